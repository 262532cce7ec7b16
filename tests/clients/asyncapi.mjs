// Reads an AsyncAPI document from standard input and prints what its official parser finds wrong with it.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const { document, diagnostics } = await new Parser().parse(readFileSync(0, "utf8"));
const found = diagnostics.filter((one) => one.severity < 2).map((one) => `${one.path.join("/")}: ${one.message}`);
console.log(JSON.stringify({ understood: document !== undefined, found }));
