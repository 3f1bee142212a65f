// Folds a file when it is marked as viewed, and unfolds it when the mark is taken back.
export function viewed() {
  document.addEventListener('submit', ({ target, submitter }) => {
    if (target.id === 'viewed' && submitter) submitter.nextElementSibling.open = submitter.name === 'unviewed';
  });
}
