// What a page does beside showing itself. Each part works without the others.
import { follow } from './live.js';
import { keys } from './keys.js';
import { runTimes } from './times.js';
import { comments } from './comments.js';
import { notifications } from './notify.js';

const asked = notifications();
runTimes();
keys();
comments();
follow((page) => {
  runTimes.now();
  comments.now();
  asked(page);
});
