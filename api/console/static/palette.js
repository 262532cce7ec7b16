// The command palette (Ctrl-K, `/`), the list of keys (`?`), letters that go to areas (`g e`), and rows (`j`, `k`).

const palette = document.getElementById("palette");
const query = document.getElementById("palette-query");
const list = document.getElementById("palette-list");
const actions = list.querySelector("[data-actions]");
const finds = list.querySelector("[data-finds]");
const status = palette.querySelector("[role=status]");

const options = () => [...list.querySelectorAll("[role=option]:not([hidden])")];
const active = () => list.querySelector("[aria-selected=true]:not([hidden])");

function choose(option) {
  active()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) query.setAttribute("aria-activedescendant", option.id);
  else query.removeAttribute("aria-activedescendant");
}

function move(by) {
  const all = options();
  const place = all.indexOf(active());
  choose(all[(place + by + all.length) % all.length]);
}

/** Go where the option leads: to an address, or to a button of the page. */
function carryOut(option) {
  palette.close();
  if (option.dataset.href) location.assign(option.dataset.href);
  else option.control.click();
}

/** Offer the buttons of the page; those of a table's rows are many, and stay there. */
function offerActions() {
  actions.querySelectorAll("[role=option]").forEach((one) => one.remove());
  const buttons = [...document.querySelectorAll("main button, main a.button")];
  const shown = buttons.filter((one) => one.checkVisibility() && !one.closest("td") && one.innerText.trim());
  for (const [place, control] of shown.entries()) {
    const option = document.createElement("div");
    Object.assign(option, { id: `palette-action-${place}`, role: "option", ariaSelected: "false", control });
    option.append(Object.assign(document.createElement("span"), { textContent: control.innerText.trim() }));
    actions.append(option);
  }
}

/** Leave the options that have all words of the query; what the server found has been chosen there. */
function narrow() {
  const words = query.value.trim().toLowerCase().split(/\s+/);
  for (const option of list.querySelectorAll("[role=option]")) {
    const text = option.textContent.toLowerCase();
    option.hidden = !finds.contains(option) && !words.every((word) => text.includes(word));
  }
  for (const group of list.querySelectorAll("[role=group]")) {
    group.hidden = !group.querySelector("[role=option]:not([hidden])");
  }
  choose(options()[0]);
  status.textContent = status.dataset.count.replace("{}", options().length);
}

let asked = 0;

async function find() {
  const turn = ++asked;
  const word = query.value.trim();
  if (!word) { finds.replaceChildren(); narrow(); return; }
  await new Promise((done) => setTimeout(done, 150));
  if (turn !== asked) return;
  const answer = await fetch(`${finds.dataset.finds}?q=${encodeURIComponent(word)}`, { headers: { "HX-Request": "true" } });
  const login = answer.headers.get("HX-Redirect");
  if (login) location.assign(login);
  if (turn !== asked || answer.status !== 200) return;
  finds.innerHTML = await answer.text();
  narrow();
}

function open(dialog) {
  document.querySelectorAll("dialog[open]").forEach((one) => one.close());
  dialog.showModal();
}

function openPalette() {
  query.value = "";
  finds.replaceChildren();
  offerActions();
  open(palette);
  narrow();
}

query.addEventListener("input", () => { narrow(); find(); });
query.addEventListener("keydown", (event) => {
  const act = {
    ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: () => active() && carryOut(active()),
  }[event.key];
  if (act && !event.isComposing) { event.preventDefault(); act(); }
});
list.addEventListener("click", (event) => {
  const option = event.target.closest("[role=option]");
  if (option) carryOut(option);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette]")) openPalette();
  else if (event.target.matches("dialog")) event.target.close(); // A click beside the box is one on the dialog itself.
});

// Keys outside of fields

const letters = Object.fromEntries([...list.querySelectorAll("[data-letter]")].map((one) => [one.dataset.letter, one.dataset.href]));
let afterG = 0;

/** Move the focus to the first link of the next row, or of the one before. */
function row(by) {
  const links = [...document.querySelectorAll("main tbody tr, main [data-row]")].map((one) => one.querySelector("[data-open], a")).filter(Boolean);
  const here = links.findIndex((one) => one.closest("tr, [data-row]").contains(document.activeElement));
  const next = here < 0 ? links[by > 0 ? 0 : links.length - 1] : links[here + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const KEYS = { "/": openPalette, "?": () => open(document.getElementById("keys")), j: () => row(1), k: () => row(-1), g: () => { afterG = Date.now(); } };

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  const field = event.composedPath()[0].closest?.("input, textarea, select, dialog, [contenteditable=true]");
  if (field || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = Date.now() - afterG < 1_500 && letters[event.key];
  afterG = 0;
  if (target) location.assign(target);
  else if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
});
