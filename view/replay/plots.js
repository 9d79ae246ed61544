// Plots beside the player: REPLAY holds the times and the lines; a cursor follows the player's time, and a click on
// a plot moves the player there. The player's time is what its slider says of itself.
(() => {
  const COLORS = ["#3377bb", "#dd7722", "#449966", "#cc4455"];
  const between = (low, value, high) => Math.round(Math.min(high, Math.max(low, value)));
  const WIDTH = between(200, 0.3 * innerWidth, 360);
  const HEIGHT = between(36, (innerHeight - 90) / REPLAY.plots.length - 24, 84);
  const LEFT = 46, RIGHT = 4, TOP = 6, BOTTOM = 8;
  const times = REPLAY.time, end = times[times.length - 1] || 1;

  const slider = () => document.querySelector("[role=slider]");
  const now = () => parseFloat(slider()?.getAttribute("aria-valuenow") ?? "0");

  // The player listens to the field that shows the time.
  function seek(time) {
    const field = document.querySelector("input:not([type=checkbox])");
    if (!field) return;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, time.toFixed(3));
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // The last sample that is not after the time.
  function index(time) {
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time + 1e-6) low = middle; else high = middle - 1;
    }
    return low;
  }

  const show = (value) => (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5)
    ? value.toExponential(1) : String(parseFloat(value.toPrecision(4))));

  const panel = document.createElement("div");
  panel.id = "vigym-plots";
  panel.style.cssText = "position:fixed;top:10px;right:10px;z-index:999;padding:6px 8px;background:#fffe;" +
    "border:1px solid #ccc;border-radius:6px;font:12px system-ui,sans-serif;color:#333;user-select:none";
  const heading = document.createElement("div");
  heading.style.cssText = "font-weight:600;cursor:pointer";
  panel.append(heading);
  const body = document.createElement("div");
  panel.append(body);
  heading.onclick = () => { body.hidden = !body.hidden; };

  function plot({ title, unit, lines }) {
    const values = lines.map((line) => line.values);
    let low = Infinity, high = -Infinity;
    for (const line of values) for (const v of line) { low = Math.min(low, v); high = Math.max(high, v); }
    if (high - low < 1e-30) { low -= 0.5; high += 0.5; }
    const label = document.createElement("div");
    label.style.cssText = `margin-top:4px;width:${WIDTH}px;white-space:nowrap;overflow:hidden`;
    label.append(unit ? `${title} [${unit}]` : title);
    const told = lines.map(({ name }, k) => {
      const value = document.createElement("span");
      value.title = name;
      value.style.cssText = `margin-left:6px;color:${COLORS[k % COLORS.length]}`;
      label.append(value);
      return value;
    });
    const canvas = document.createElement("canvas");
    canvas.width = 2 * WIDTH; canvas.height = 2 * HEIGHT;  // sharp on fine screens
    canvas.style.cssText = `width:${WIDTH}px;height:${HEIGHT}px;display:block;cursor:crosshair`;
    body.append(label, canvas);
    const X = (t) => LEFT + (WIDTH - LEFT - RIGHT) * t / end;
    const Y = (v) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (v - low) / (high - low);
    const g = canvas.getContext("2d");
    g.scale(2, 2);
    g.fillStyle = "#f6f7f9";
    g.fillRect(0, 0, WIDTH, HEIGHT);
    if (low < 0 && high > 0) { g.fillStyle = "#ccc"; g.fillRect(LEFT, Y(0), WIDTH - LEFT - RIGHT, 1); }
    values.forEach((line, k) => {
      g.strokeStyle = COLORS[k % COLORS.length];
      g.beginPath();
      line.forEach((v, i) => g.lineTo(X(times[i]), Y(v)));
      g.stroke();
    });
    g.fillStyle = "#777"; g.font = "10px system-ui,sans-serif";
    g.fillText(show(high), 2, TOP + 8);
    g.fillText(show(low), 2, HEIGHT - BOTTOM - 2);
    const still = g.getImageData(0, 0, canvas.width, canvas.height);
    const drag = (event) => {
      if (event.buttons & 1) seek(Math.min(end, Math.max(0, (event.offsetX - LEFT) / (WIDTH - LEFT - RIGHT) * end)));
    };
    canvas.onpointerdown = canvas.onpointermove = drag;
    return (time) => {
      g.putImageData(still, 0, 0);
      g.fillStyle = "#111";
      g.fillRect(X(time) - 0.5, 0, 1, HEIGHT);
      const i = index(time);
      values.forEach((line, k) => { told[k].textContent = show(line[i]); });
    };
  }

  // Colliders that bodies do not look like: known by their colour, as the player does not tell which nodes it made.
  function colliders({ color, shown }) {
    const label = document.createElement("label"), box = document.createElement("input");
    label.style.cssText = "display:block;margin-top:4px";
    box.type = "checkbox"; box.checked = shown; box.id = "vigym-colliders";
    label.append(box, " colliders");
    heading.after(label);
    return () => {
      for (const scene of vigymScenes) {
        scene.traverse(({ material }) => {
          if (material?.color?.getHexString() === color) material.visible = box.checked;
        });
      }
    };
  }

  document.body.append(panel);
  const hide = REPLAY.colliders ? colliders(REPLAY.colliders) : () => {};
  const plots = REPLAY.plots.map(plot);
  let last = -1;
  (function follow() {
    const time = now();
    hide();
    if (time !== last && !body.hidden) {
      last = time;
      heading.textContent = `${REPLAY.title || "vigym"}  ${time.toFixed(2)} s`;
      for (const draw of plots) draw(time);
    }
    requestAnimationFrame(follow);
  })();
  window.vigym = { now, seek };
})();
