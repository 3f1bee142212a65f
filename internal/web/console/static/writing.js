// Shows the text that Claude is writing, until the page has it as a message.
import { afterwards } from './change.js';

let text = '';
let last = {};
let ended = null;

const sameBlock = (a, b) => a !== null && a.turn === b.turn && a.block === b.block;

// write adds a piece. If one is missing, later pieces are dropped: the message has the text.
export function write(piece) {
  if (piece.whole) text = piece.text;
  else if (sameBlock(piece, last) && piece.piece === last.piece + 1) text += piece.text;
  else return;
  last = piece;
  show();
}

// end records that the message with the text has arrived: the next fetched page contains it.
export function end(message) {
  if (message?.role === 'assistant') ended = last;
}

function show() {
  const shown = document.getElementById('writing');
  if (!shown) return;
  shown.classList.toggle('thinking', Boolean(last.thinking));
  shown.firstElementChild.textContent = last.thinking ? 'Claude is thinking' : 'Claude is writing';
  shown.lastElementChild.textContent = text;
  shown.hidden = text === '';
}

afterwards(() => {
  if (sameBlock(ended, last)) text = '';
  ended = null;
  show();
});
