"use strict";

const language = document.documentElement.lang;
const ISO = "sv-SE"; // Writes 2026-11-28 14:05 in every language of the console.
const clock = new Intl.DateTimeFormat(ISO, { timeStyle: "medium" });
const calendar = new Intl.DateTimeFormat(ISO, { dateStyle: "short", timeStyle: "short" });
const distance = new Intl.RelativeTimeFormat(language, { numeric: "always", style: "narrow" });
const full = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long", hourCycle: "h23" });

/** Write the times below an element in the browser's own zone; a row of a list names the day only if it is not today. */
function localise(root) {
  const today = new Date().toDateString();
  for (const time of root.querySelectorAll("time[datetime]:not([data-local], [data-until])")) {
    const at = new Date(time.dateTime);
    time.dataset.local = "";
    time.title = full.format(at);
    time.textContent = (at.toDateString() === today && time.closest("tr") ? clock : calendar).format(at);
  }
}

/** Keep a live list as short as it says. */
function trim(list) {
  while (list.children.length > Number(list.dataset.keep)) list.lastElementChild.remove();
}

/** Let the keyboard reach every text that scrolls. */
function reach() {
  for (const text of document.querySelectorAll("main pre:not([tabindex])")) {
    if (text.scrollHeight > text.clientHeight || text.scrollWidth > text.clientWidth) text.tabIndex = 0;
  }
}

function toggle(button) {
  const part = document.getElementById(button.dataset.toggle);
  if (part.tagName === "NAV") part.classList.toggle("open");
  else part.hidden = !part.hidden;
  const shown = part.tagName === "NAV" ? part.classList.contains("open") : !part.hidden;
  button.setAttribute("aria-expanded", String(shown));
  if (shown) part.querySelector("input:not([type=hidden]), textarea, a")?.focus();
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `imprint_theme=${root.dataset.theme}; path=/console; max-age=31536000; samesite=lax`;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-toggle]");
  if (button) toggle(button);
  if (event.target.closest("[data-theme-switch]")) switchTheme();
});

document.addEventListener("htmx:after:swap", () => {
  localise(document);
  reach();
  improve();
  document.querySelectorAll("[data-keep]").forEach(trim);
});

document.addEventListener("toggle", reach, true); // A text behind a summary has no height until it is opened.

/** Say of times to come how far off they are. */
function countDown() {
  for (const time of document.querySelectorAll("time[data-until]")) {
    const seconds = Math.max(0, Math.round((new Date(time.dateTime) - Date.now()) / 1000));
    time.textContent = distance.format(seconds < 120 ? seconds : Math.round(seconds / 60), seconds < 120 ? "second" : "minute");
  }
}

setInterval(countDown, 1000);
countDown();

localise(document);
reach();

/** Let modules improve what asks for them: `data-editor` an editor of rules, `data-plot` a chart. */
async function improve() {
  for (const one of document.querySelectorAll("[data-editor]:not([data-improved]), [data-plot]:not([data-improved])")) {
    one.dataset.improved = one.dataset.waiting = "";
    try {
      const module = await import(one.dataset.editor ?? one.dataset.plot);
      await (one.dataset.editor ? module.enhance(one) : module.draw(one));
    } finally {
      delete one.dataset.waiting;
    }
  }
}

improve();

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-all]")) return;
  for (const box of event.target.closest("table").querySelectorAll("input[name=id]")) box.checked = event.target.checked;
});
