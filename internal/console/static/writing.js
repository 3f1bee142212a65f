// Shows what Claude is writing, until the page has it as a message.
let text = '';
let last = {};

// write adds a piece. If one was lost, the rest waits for the message.
export function write(piece) {
  const same = piece.turn === last.turn && piece.block === last.block;
  if (piece.whole) text = piece.text;
  else if (same && piece.piece === last.piece + 1) text += piece.text;
  else return;
  last = piece;
  const shown = document.getElementById('writing');
  if (!shown) return;
  shown.lastElementChild.textContent = text;
  shown.hidden = false;
}
