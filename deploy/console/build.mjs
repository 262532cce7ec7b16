// Builds api/console/static/vendor: code of others, in the versions of package-lock.json, with licences and hashes.

import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");
const vendor = join(here, "../../api/console/static/vendor");

const COPIED = {
  "htmx.min.js": ["htmx.org", "dist/htmx.min.js"],
  "hx-sse.min.js": ["htmx.org", "dist/ext/hx-sse.min.js"],
  "uplot.min.css": ["uplot", "dist/uPlot.min.css"],
};
const BUNDLED = { "codemirror.min.js": join(here, "codemirror.js"), "uplot.min.js": join(modules, "uplot/dist/uPlot.esm.js") };

const described = (name) => {
  const { version, license } = JSON.parse(readFileSync(join(modules, name, "package.json")));
  return { name, version, licence: license };
};
const packageOf = (path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1];
const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

const parts = {};
for (const [file, [name, path]] of Object.entries(COPIED)) {
  copyFileSync(join(modules, name, path), join(vendor, file));
  parts[file] = { source: `npm ${name}, ${path}`, names: [name] };
}
for (const [file, entry] of Object.entries(BUNDLED)) {
  const { metafile } = await build({
    entryPoints: [entry], outfile: join(vendor, file), absWorkingDir: here, bundle: true, minify: true, format: "esm",
    target: "es2022", charset: "utf8", legalComments: "none", metafile: true, logLevel: "warning",
  });
  const names = [...new Set(Object.keys(metafile.inputs).map(packageOf).filter(Boolean))].sort();
  parts[file] = { source: `esbuild ${described("esbuild").version} of the npm packages`, names };
}

const licences = {};
for (const { names } of Object.values(parts)) for (const name of names) licences[name] = join(modules, name, "LICENSE");
const texts = Object.keys(licences).sort().map((name) => {
  const { version, licence } = described(name);
  return `${name} ${version} (${licence})\n\n${readFileSync(licences[name], "utf8").trim()}\n`;
});
writeFileSync(join(vendor, "vendor.LICENSE"), texts.join(`\n${"-".repeat(80)}\n\n`));

const manifest = Object.keys(parts).sort().map((file) => ({
  file, sha256: sha256(join(vendor, file)), source: parts[file].source, packages: parts[file].names.map(described),
}));
writeFileSync(join(vendor, "manifest.json"), `${JSON.stringify(manifest, null, 1)}\n`);
