// Evaluates what n8n would: an expression (`={{ … }}`, or text with such parts) or the code of a Code node.
import { createRequire } from 'node:module';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { expression, code, scope } = JSON.parse(Buffer.concat(chunks).toString());
const items = scope.nodes ?? {};
const names = {
  $json: scope.json,
  $env: scope.env,
  $execution: { id: scope.execution },
  $itemIndex: 0,
  $: (name) => ({ item: { json: items[name] } }),
  require: createRequire(import.meta.url),
};
const AsyncFunction = (async () => {}).constructor;
const helpers = { getBinaryDataBuffer: async () => Buffer.from(scope.binary, 'base64') };
const run = (source) => new AsyncFunction(...Object.keys(names), source).call({ helpers }, ...Object.values(names));

async function evaluated(text) {
  const parts = text.slice(1).split(/\{\{(.*?)\}\}(?!\})/s);
  const values = await Promise.all(parts.map((part, at) => (at % 2 ? run(`return (${part});`) : part)));
  const filled = values.filter((value) => value !== '');
  return filled.length === 1 ? filled[0] : values.join('');
}

const result = code === undefined ? await evaluated(expression) : await run(code);
process.stdout.write(JSON.stringify(result));
