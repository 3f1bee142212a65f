// Updates relative times, such as “2 min ago”.
function span(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 36000) {
    const rest = Math.floor(seconds / 60) % 60;
    return rest ? `${Math.floor(seconds / 3600)} h ${rest} min` : `${Math.floor(seconds / 3600)} h`;
  }
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}

function update() {
  const now = Date.now();
  for (const time of document.querySelectorAll('time[data-ago], time[data-until]')) {
    const at = Date.parse(time.dateTime);
    let text;
    if ('until' in time.dataset) text = at <= now ? 'now' : span((at - now) / 1000);
    else text = now - at < 5000 ? 'just now' : `${span((now - at) / 1000)} ago`;
    if (time.textContent !== text) time.textContent = text;
  }
}

export function runTimes() {
  update();
  setInterval(() => { if (!document.hidden) update(); }, 1000);
}
runTimes.now = update;
