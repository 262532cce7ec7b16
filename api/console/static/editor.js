// The editor of rules: CodeMirror over a text area, which stays the field of the form.
// Completion and hover come from the JSON Schema of rules and from the fields of events; problems come from the
// server's report (`data-report` names its element), in which `data-pointer` says where in the text each belongs.

let cm;

/** Put an editor in place of a text area with `data-codemirror`, `data-words` and `data-report`. */
export async function enhance(area) {
  const [module, words] = await Promise.all([import(area.dataset.codemirror), wordsOf(area.dataset.words)]);
  cm = module;
  const host = document.createElement("div");
  host.className = "editor";
  area.before(host);
  const root = host.attachShadow({ mode: "open" });
  const view = new cm.EditorView({
    root, parent: root, state: cm.EditorState.create({ doc: area.value, extensions: extensions(area, words) }),
  });
  area.hidden = true;
  document.addEventListener("htmx:after:swap", () => showProblems(view, area));
  document.querySelector(`label[for="${CSS.escape(area.id)}"]`)?.addEventListener("click", () => view.focus());
  return view;
}

async function wordsOf(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  return answer.ok ? answer.json() : { schema: {}, events: {} };
}

function extensions(area, words) {
  const save = () => { area.form.requestSubmit(); return true; };
  return [
    cm.lineNumbers(), cm.foldGutter(), cm.lintGutter(), cm.history(), cm.drawSelection(), cm.highlightActiveLine(),
    cm.highlightSelectionMatches(), cm.indentOnInput(), cm.indentUnit.of("  "), cm.bracketMatching(), cm.closeBrackets(),
    cm.json(), cm.syntaxHighlighting(colours()), cm.EditorView.lineWrapping, appearance(),
    cm.autocompletion({ override: [(context) => complete(context, words)], icons: false }),
    cm.hoverTooltip((view, position) => explain(view.state, position, words)),
    cm.EditorView.contentAttributes.of({ "aria-label": area.getAttribute("aria-label") ?? "" }),
    cm.EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    cm.EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      area.value = update.state.doc.toString();
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }),
    // Tab leaves the editor, so that nobody who works with the keyboard is caught in it.
    cm.keymap.of([
      { key: "Mod-s", run: save, preventDefault: true }, ...cm.closeBracketsKeymap, ...cm.completionKeymap,
      ...cm.defaultKeymap, ...cm.searchKeymap, ...cm.historyKeymap, ...cm.foldKeymap, ...cm.lintKeymap,
    ]),
  ];
}

/** Type over a selection without the browser, which would keep the look of what it replaces as an inline style. */
function replaceSelection(event, view) {
  const { from, to, empty } = view.state.selection.main;
  if (event.inputType !== "insertText" || !event.data || empty || event.isComposing) return false;
  const insert = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type" });
  const taken = view.state.facet(cm.EditorView.inputHandler).some((handle) => handle(view, from, to, event.data, insert));
  if (!taken) view.dispatch(insert());
  event.preventDefault();
  return true;
}

// Problems

function showProblems(view, area) {
  const syntax = cm.jsonParseLinter()(view);
  const told = [...document.getElementById(area.dataset.report).querySelectorAll("[data-pointer]")];
  view.dispatch(cm.setDiagnostics(view.state, syntax.length ? syntax : told.map((one) => ({
    ...rangeOf(view.state, one.dataset.pointer), severity: one.dataset.severity, message: one.dataset.detail,
  }))));
}

/** The part of the text that a JSON pointer names: of an object that lacks a field the opening bracket. */
function rangeOf(state, pointer) {
  let node = valueOf(treeOf(state).topNode);
  for (const step of pointer.split("/").slice(1).map((one) => one.replaceAll("~1", "/").replaceAll("~0", "~"))) {
    const inner = node?.name === "Array" ? values(node)[Number(step)] : properties(state, node).get(step)?.value;
    if (!inner) break;
    node = inner;
  }
  if (!node) return { from: 0, to: 0 };
  return { from: node.from, to: /^(Object|Array)$/.test(node.name) ? node.from + 1 : node.to };
}

// The text as a tree

const treeOf = (state) => cm.ensureSyntaxTree(state, state.doc.length, 200) ?? cm.syntaxTree(state);
const VALUES = /^(Object|Array|String|Number|True|False|Null)$/;
const values = (node) => { const found = []; for (let one = node.firstChild; one; one = one.nextSibling) if (VALUES.test(one.name)) found.push(one); return found; };
const valueOf = (node) => values(node)[0] ?? null;
const textOf = (state, node) => state.sliceDoc(node.from, node.to);

function parsed(text) {
  try { return JSON.parse(text); } catch { return text.replaceAll('"', ""); }
}

/** Properties of an object by name, in order. */
function properties(state, node) {
  const found = new Map();
  for (let one = node?.firstChild; one; one = one.nextSibling) {
    const name = one.name === "Property" && one.getChild("PropertyName");
    if (name) found.set(parsed(textOf(state, name)), { property: one, value: valueOf(one) });
  }
  return found;
}

/** Strings of an object by name: by them the schema tells its alternatives apart. */
function literals(state, node) {
  const found = {};
  if (node?.name !== "Object") return found;
  for (const [name, { value }] of properties(state, node)) {
    found[name] = value?.name === "String" ? parsed(textOf(state, value)) : undefined;
  }
  return found;
}

/** What stands at a position: the name of a property in `object`, or a value at `path`. */
function placeOf(state, position) {
  let node = treeOf(state).resolveInner(position, -1);
  while (!/^(Object|Array|Property|PropertyName|String|Number|True|False|Null|JsonText)$/.test(node.name)) node = node.parent;
  if (node.name === "PropertyName") return { object: node.parent.parent, name: node };
  if (node.name === "Object") return position < node.to || node.lastChild?.name !== "}" ? { object: node } : null;
  if (node.name === "Property") {
    const name = node.getChild("PropertyName");
    const colon = name && state.sliceDoc(name.to, position).includes(":");
    return colon ? { path: [...pathOf(state, node.parent), parsed(textOf(state, name))] } : null;
  }
  if (node.name === "Array" && position === node.to && node.lastChild?.name === "]") return null;
  if (node.name === "Array") return { path: [...pathOf(state, node), "0"] };
  return VALUES.test(node.name) ? { path: pathOf(state, node), value: node } : null;
}

function pathOf(state, node) {
  const path = [];
  for (let one = node; one.parent; one = one.parent) {
    if (one.name === "Property") path.unshift(parsed(textOf(state, one.getChild("PropertyName"))));
    else if (one.parent.name === "Array") path.unshift(String(values(one.parent).findIndex((value) => value.from === one.from)));
  }
  return path;
}

// The schema

/** Schemas that hold for the value at a path, as the text stands but for a name that is being typed there. */
function schemasAt(state, schema, path, typed) {
  const givenBy = (node, depth) => {
    const given = literals(state, node);
    if (depth === path.length) delete given[typed];
    return given;
  };
  let node = valueOf(treeOf(state).topNode);
  let found = alternatives(schema, schema, givenBy(node, 0));
  for (const [depth, step] of path.entries()) {
    const array = node?.name === "Array";
    node = (array ? values(node)[Number(step)] : properties(state, node).get(step)?.value) ?? null;
    const given = givenBy(node, depth + 1);
    found = found.flatMap((one) => {
      const inner = array || (one.type === "array" && one.items) ? one.items : one.properties?.[step] ?? one.additionalProperties;
      return typeof inner === "object" ? alternatives(inner, schema, given) : [];
    });
  }
  return found;
}

/** A schema with its references and choices resolved, without the choices that what is given rules out. */
function alternatives(schema, root, given, depth = 0) {
  if (depth > 10 || typeof schema !== "object") return [];
  if (schema.$ref) {
    const named = schema.$ref.split("/").slice(1).reduce((part, step) => part?.[step], root);
    const { $ref, ...beside } = schema;
    return alternatives({ ...named, ...beside }, root, given, depth + 1);
  }
  if (!isPossible(schema, given)) return [];
  const conditional = (schema.allOf ?? []).filter((one) => !one.if || isPossible(one.if, given, true)).map((one) => one.then ?? one);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []).filter((one) => !("const" in one)), ...conditional];
  return [schema, ...inner.flatMap((one) => alternatives(one, root, given, depth + 1))];
}

/** Whether an object with these strings can be what the schema means; a condition holds only if its words are there. */
function isPossible(schema, given, strict = false) {
  for (const [name, text] of Object.entries(given)) {
    const inner = schema.properties?.[name];
    if (inner && "const" in inner && text !== undefined && inner.const !== text) return false;
    if (schema.properties && !inner && schema.additionalProperties === false) return false;
  }
  return !strict || Object.keys(schema.properties ?? {}).every((name) => given[name] !== undefined);
}

// Completion

function complete(context, words) {
  const place = placeOf(context.state, context.pos);
  if (!place) return null;
  if (place.object) return completeName(context, words, place);
  return completeValue(context, words, place);
}

function completeName(context, words, { object, name }) {
  const word = name ?? context.matchBefore(/"?[\w.]+"?/);
  if (!word && !context.explicit) return null;
  const given = new Set(properties(context.state, object).keys());
  const typed = name && parsed(textOf(context.state, name));
  given.delete(typed);
  const options = new Map();
  for (const schema of schemasAt(context.state, words.schema, pathOf(context.state, object), typed)) {
    for (const [key, inner] of Object.entries(schema.properties ?? {})) {
      if (given.has(key) || (options.has(key) && !inner.description)) continue;
      const detail = schema.required?.includes(key) ? "required" : "";
      options.set(key, { label: key, type: "property", detail, boost: detail ? 1 : 0, info: inner.description, apply: insertName(key, inner, words.schema, name) });
    }
  }
  return list(word ? word.from + (context.state.sliceDoc(word.from, word.from + 1) === '"') : context.pos, options);
}

function completeValue(context, words, { path, value }) {
  if (!value && !context.explicit && !context.matchBefore(/[:[,]\s*\w*/)) return null;
  if (value && /^(Object|Array)$/.test(value.name)) return null;
  const options = new Map();
  const offer = (content, info, type = "constant") => {
    const label = typeof content === "string" ? content : JSON.stringify(content);
    if (value?.name === "String" && typeof content !== "string") return;
    if (!options.has(label)) options.set(label, { label, type, info, apply: insertValue(content, value) });
  };
  const type = pointedOf(context.state);
  for (const [name, about] of Object.entries(known(path, words, type))) offer(name, about || undefined, "variable");
  for (const schema of schemasAt(context.state, words.schema, path)) {
    for (const choice of schema.oneOf ?? []) if ("const" in choice) offer(choice.const, choice.description);
    if ("const" in schema) offer(schema.const, schema.description);
    for (const one of schema.enum ?? []) offer(one);
    if (schema.type === "boolean") { offer(true); offer(false); }
    if (!schema.enum && !schema.oneOf) for (const one of schema.examples ?? []) offer(one, undefined, "text");
  }
  const word = value ? null : context.matchBefore(/\w+/);
  const from = value ? value.from + (value.name === "String") : word?.from ?? context.pos;
  return list(from, options);
}

const list = (from, options) => options.size ? { from, options: [...options.values()], validFor: /^[^"{}[\]]*$/ } : null;

/** Types of events that the rule in the text listens to; `*` stands for any characters. */
function pointedOf(state) {
  const type = properties(state, valueOf(treeOf(state).topNode)).get("event_type")?.value;
  const told = type ? parsed(textOf(state, type)) : "*";
  const all = (Array.isArray(told) ? told : [told]).map((one) => String(one).replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*"));
  return new RegExp(`^(?:${all.join("|")})$`);
}

/** Words beyond the schema: types of events where a type is due, fields of the events where a path is due. */
function known(path, words, type) {
  const names = path.filter((step) => !/^\d+$/.test(step));
  const last = names.at(-1);
  if (last === "event_type" || last === "flush_on") return Object.fromEntries(Object.keys(words.events).sort().map((one) => [one, ""]));
  if (last !== "field" && last !== "key") return {};
  const listened = Object.keys(words.events).filter((one) => type.test(one));
  return Object.assign({}, ...(listened.length ? listened : Object.keys(words.events)).map((one) => words.events[one]));
}

function insertName(key, schema, root, name) {
  return (view, _option, from, to) => {
    const start = view.state.sliceDoc(from - 1, from) === '"' ? from - 1 : from;
    const end = name ? Math.max(to, endOfString(view.state, start)) : to;
    const after = view.state.sliceDoc(end).trimStart();
    if (name && after.startsWith(":")) return replace(view, start, end, JSON.stringify(key), 0);
    const [before, behind] = skeletonOf(schema, root);
    const comma = after.startsWith('"') ? "," : "";
    replace(view, start, end, `${JSON.stringify(key)}: ${before}${behind}${comma}`, behind.length + comma.length);
    if (before === '"' || before === "") cm.startCompletion(view);
  };
}

function insertValue(content, value) {
  return (view, _option, from, to) => {
    const inside = value?.name === "String";
    const start = inside ? from - 1 : from;
    replace(view, start, inside ? Math.max(to, endOfString(view.state, start)) : to, JSON.stringify(content), 0);
  };
}

function replace(view, from, to, text, back) {
  view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length - back }, userEvent: "input.complete" });
}

function endOfString(state, start) {
  const found = /^"(?:[^"\\\n]|\\.)*"?/.exec(state.sliceDoc(start, start + 1_000));
  return found ? start + found[0].length : start;
}

/** What is written before and behind the cursor where a value of the schema is due. */
function skeletonOf(schema, root) {
  const kinds = alternatives(schema, root, {}).flatMap((one) => one.type ?? (one.enum ? ["string"] : one.properties ? ["object"] : []));
  const kind = kinds.find((one) => one !== "null");
  return { string: ['"', '"'], object: ["{", "}"], array: ["[", "]"] }[kind] ?? ["", ""];
}

// Hover

function explain(state, position, words) {
  const place = placeOf(state, position) ?? placeOf(state, position + 1);
  const node = place?.name ?? place?.value;
  if (!node || node.from > position || node.to < position || /^(Object|Array)$/.test(node.name)) return null;
  const told = parsed(textOf(state, node));
  const path = place.name ? [...pathOf(state, place.object), told] : place.path;
  const schemas = schemasAt(state, words.schema, path);
  const choice = place.value && schemas.flatMap((one) => one.oneOf ?? []).find((one) => one.const === told);
  const about = choice?.description ?? (place.value && known(path, words, /./)[told]) ?? schemas.find((one) => one.description)?.description;
  if (!about) return null;
  return { pos: node.from, end: node.to, above: true, create: () => ({ dom: card(String(told), about, place.name ? schemas : []) }) };
}

function card(title, about, schemas) {
  const dom = document.createElement("div");
  dom.className = "about";
  const line = (tag, text) => { const part = document.createElement(tag); part.textContent = text; dom.append(part); };
  line("b", title);
  line("p", about);
  const values = [...new Set(schemas.flatMap((one) => one.enum ?? []))];
  if (values.length && values.length <= 40) line("code", values.join(" | "));
  const example = schemas.flatMap((one) => one.examples ?? [])[0];
  if (example !== undefined && !values.length) line("code", JSON.stringify(example));
  return dom;
}

// Looks: colours are those of the page, light and dark

function colours() {
  const { tags } = cm;
  return cm.HighlightStyle.define([
    { tag: tags.propertyName, color: "var(--accent)" },
    { tag: tags.string, color: "var(--good)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
    { tag: [tags.separator, tags.squareBracket, tags.brace], color: "var(--quiet)" },
  ]);
}

function appearance() {
  const raised = { background: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)" };
  return cm.EditorView.theme({
    "&": { font: "13px/1.5 var(--mono)", background: "var(--ground)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "7px", maxHeight: "36rem" },
    "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
    ".cm-scroller": { font: "inherit", overflow: "auto", borderRadius: "7px" },
    ".cm-content": { caretColor: "var(--text)", minHeight: "16rem" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-gutters": { background: "var(--ground)", color: "var(--quiet)", border: "none" },
    ".cm-activeLine": { background: "color-mix(in srgb, var(--accent) 7%, transparent)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 28%, transparent)" },
    ".cm-selectionMatch": { background: "color-mix(in srgb, var(--warn) 25%, transparent)" },
    "&.cm-focused .cm-matchingBracket": { background: "color-mix(in srgb, var(--accent) 25%, transparent)" },
    ".cm-foldPlaceholder": { ...raised, padding: "0 .4em" },
    ".cm-tooltip": { ...raised, borderRadius: "8px", boxShadow: "0 6px 20px #0004", zIndex: 5 },
    ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxHeight: "16rem" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".15rem .6rem" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent-ground)", color: "#fff" },
    ".cm-completionInfo": { padding: ".4rem .7rem", maxWidth: "22rem", fontFamily: "system-ui, sans-serif" },
    ".cm-completionDetail": { color: "var(--quiet)", fontStyle: "normal", marginLeft: ".8em" },
    "li[aria-selected] .cm-completionDetail": { color: "inherit" },
    ".cm-diagnostic": { fontFamily: "system-ui, sans-serif", padding: ".3rem .7rem" },
    ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
    ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
    ".cm-panels": raised,
    ".cm-textfield": { ...raised, backgroundImage: "none" }, ".cm-button": { ...raised, backgroundImage: "none" },
    ".about": { padding: ".4rem .7rem", maxWidth: "28rem", font: "14px/1.45 system-ui, sans-serif" },
    ".about p": { margin: ".15rem 0" }, ".about code": { font: "12px/1.4 var(--mono)", color: "var(--quiet)", overflowWrap: "anywhere" },
  });
}
