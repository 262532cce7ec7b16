// Sliders between the first memory and now: each says its moment while it moves, and the list follows when it rests.

const QUIET_MS = 350;
const shown = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

function tell(slider, now) {
  const [from, to] = [Date.parse(slider.dataset.from), Date.parse(slider.dataset.to)];
  const last = slider.value === slider.max;
  const words = last ? now : shown.format(new Date(from + ((to - from) * slider.value) / slider.max));
  slider.setAttribute("aria-valuetext", words);
  slider.nextElementSibling.textContent = words;
}

for (const form of document.querySelectorAll("[data-lookback]")) {
  let waiting;
  const sliders = form.querySelectorAll("input[type=range]");
  for (const slider of sliders) tell(slider, form.dataset.now);
  form.addEventListener("input", (event) => {
    tell(event.target, form.dataset.now);
    clearTimeout(waiting);
    waiting = setTimeout(() => form.requestSubmit(), QUIET_MS);
  });
}
