import { follow, type Settings } from './follow.js';

const told: Record<string, string[]> = {};
let outcome = '';
Object.assign(globalThis, {
  told,
  outcome: () => outcome,
  begin(settings: Settings) {
    follow(settings, (requestId, id) => (told[requestId] ??= []).push(id)).then(
      () => (outcome = 'ended'),
      (error) => (outcome = String(error)),
    );
  },
});
