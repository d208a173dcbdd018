// Plays the frames of one transfer. Everything that came with the transfer is shown as text, never as markup.

const QUIET = 4; // modules of white on each side
const transfer = JSON.parse(document.getElementById("transfer").textContent);
const element = (name) => document.getElementById(name);
const playing = { density: transfer.density, frame: 0, timer: null };

function texts() {
  return transfer.densities[playing.density].texts;
}

function draw() {
  const { rows } = symbolOf(texts()[playing.frame % texts().length]);
  const side = rows.length + 2 * QUIET;
  const canvas = element("code");
  const scale = window.devicePixelRatio || 1;
  const room = canvas.parentElement;
  const module = Math.max(1, Math.floor((Math.min(room.clientWidth, room.clientHeight) * scale) / side));
  canvas.width = canvas.height = side * module; // whole pixels of the screen for each module
  canvas.style.width = canvas.style.height = canvas.width / scale + "px";
  const ink = canvas.getContext("2d", { alpha: false });
  ink.fillStyle = "#ffffff";
  ink.fillRect(0, 0, canvas.width, canvas.height);
  ink.fillStyle = "#000000";
  rows.forEach((row, y) => row.forEach((dark, x) => {
    if (dark) ink.fillRect((x + QUIET) * module, (y + QUIET) * module, module, module);
  }));
  showCounter();
}

function showCounter() {
  const { ideal } = transfer.densities[playing.density];
  element("counter").textContent = texts().length === 1
    ? "One still code"
    : `Frame ${playing.frame + 1}, ${playing.timer === null ? "stopped" : "playing"}; at least ${ideal} are needed, any of them`;
}

function step() {
  playing.frame += 1;
  draw();
}

function start() {
  stop();
  const next = () => {
    playing.timer = setTimeout(next, Number(element("pause").value));
    step();
  };
  playing.timer = setTimeout(next, Number(element("pause").value));
  draw();
}

function stop() {
  clearTimeout(playing.timer);
  playing.timer = null;
  showCounter();
}

function chooseDensity() {
  playing.density = element("density").selectedIndex;
  playing.frame = 0;
  const still = texts().length === 1;
  for (const name of ["start", "stop", "step", "pause"]) element(name).disabled = still;
  if (still) {
    stop();
    draw();
  } else start();
}

function showSettings() {
  const brightness = Number(element("brightness").value);
  const level = Math.round(2.55 * brightness);
  document.body.style.backgroundColor = `rgb(${level}, ${level}, ${level})`; // around the code, which stays on white
  element("brightness-shown").textContent = `${brightness} %`;
  element("pause-shown").textContent = `${element("pause").value} ms a frame`;
}

document.title = `${transfer.kind} ${transfer.ceremony}`;
for (const name of ["kind", "ceremony", "words", "fingerprint"]) element(name).textContent = transfer[name];
element("compare").hidden = !transfer.fingerprint;
for (const { version, ideal } of transfer.densities) {
  const choice = document.createElement("option");
  choice.textContent = `version ${version}: ${ideal} frame${ideal === 1 ? "" : "s"}`;
  element("density").append(choice);
}
element("density").selectedIndex = playing.density;
element("pause").value = transfer.pause_ms;
element("brightness").value = 90;
element("start").addEventListener("click", start);
element("stop").addEventListener("click", stop);
element("step").addEventListener("click", () => { stop(); step(); });
element("density").addEventListener("change", chooseDensity);
for (const name of ["pause", "brightness"]) element(name).addEventListener("input", showSettings);
window.addEventListener("resize", draw);
showSettings();
chooseDensity();
