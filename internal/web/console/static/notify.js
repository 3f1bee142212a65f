// Announces new questions: to screen readers, and on the desktop if the user allows it.
import { privatePath } from './private-path.js';

export function notifications() {
  const button = document.getElementById('notify');
  if (button && 'Notification' in window && Notification.permission === 'default') {
    button.hidden = false;
    button.addEventListener('click', async () => {
      await Notification.requestPermission();
      button.hidden = true;
    });
  }
  let before = count(document);
  return (page) => {
    const now = count(page);
    if (now > before) {
      const text = now === 1 ? 'One question waits for an answer.' : `${now} questions wait for an answer.`;
      document.getElementById('said').textContent = text;
      if (document.hidden && 'Notification' in window && Notification.permission === 'granted') {
        const shown = new Notification('Ringback', { body: text, tag: 'waiting' });
        shown.onclick = () => { window.focus(); location.assign(`${privatePath}/inbox`); };
      }
    }
    before = now;
  };
}

function count(page) {
  return Number.parseInt(page.getElementById('waiting')?.dataset.count ?? '0', 10);
}
