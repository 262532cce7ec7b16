// Ways to begin: a dropped file is read into the text area or sent with its progress, and a line is copied.

const READ_BYTES = 500_000;

function token() {
  return JSON.parse(document.body.getAttribute("hx-headers:inherited"))["X-CSRF-Token"];
}

/** Send the file of a form; the bar shows how much of it has left, then waits for what the server makes of it. */
function send(form, dryRun) {
  const [file, bar, place] = [form.elements.file.files[0], form.querySelector("progress"), form.querySelector("[data-answer]")];
  const query = new URLSearchParams({ user_id: form.elements.user_id.value, dry_run: dryRun });
  const request = new XMLHttpRequest();
  request.open("POST", `${form.dataset.send}?${query}`);
  request.setRequestHeader("X-CSRF-Token", token());
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.setRequestHeader("HX-Request", "true");
  const buttons = form.querySelectorAll("button");
  const busy = (is) => {
    bar.hidden = !is;
    for (const button of buttons) button.disabled = is;
  };
  request.upload.onprogress = (event) => {
    bar.value = event.loaded / event.total;
    if (event.loaded === event.total) bar.removeAttribute("value");
  };
  request.onload = () => {
    busy(false);
    place.innerHTML = request.responseText;
  };
  request.onerror = () => {
    busy(false);
    place.textContent = form.dataset.failed;
  };
  bar.value = 0;
  busy(true);
  request.send(file);
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-send]");
  if (!form) return;
  event.preventDefault();
  send(form, event.submitter.value);
});

document.addEventListener("change", (event) => {
  if (event.target.type !== "file") return;
  const name = event.target.closest(".drop")?.querySelector("[data-name]");
  if (name) name.textContent = event.target.files[0]?.name ?? "";
});

for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, async (event) => {
    const place = event.target.closest?.(".drop, [data-drop-text]");
    if (!place) return;
    event.preventDefault();
    place.classList.toggle("over", kind === "dragover");
    const file = event.dataTransfer.files[0];
    if (kind !== "drop" || !file) return;
    if (place.matches(".drop")) {
      place.control.files = event.dataTransfer.files;
      place.control.dispatchEvent(new Event("change", { bubbles: true }));
    } else {
      place.value = await file.slice(0, READ_BYTES).text();
    }
  });
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = button.dataset.done;
  } catch {
    getSelection().selectAllChildren(text); // Without TLS there is no clipboard, but Ctrl-C.
  }
});
