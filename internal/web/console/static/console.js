// Starts the scripts of a page. Each works without the others.
import { afterwards } from './change.js';
import { follow, retry } from './live.js';
import { keys } from './keys.js';
import { runTimes } from './times.js';
import { comments } from './comments.js';
import { drafts, restoreAll } from './drafts.js';
import { sending } from './send.js';
import { showCurrent } from './tabs.js';
import { viewed } from './viewed.js';
import { notifications } from './notify.js';

showCurrent();
runTimes();
keys();
comments();
drafts();
sending();
viewed();
for (const act of [runTimes.now, comments, restoreAll, notifications()]) afterwards(act);
follow();
retry();
