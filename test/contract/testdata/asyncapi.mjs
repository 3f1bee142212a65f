// Parses an AsyncAPI document with the project's own parser: node asyncapi.mjs <.tools> <document>
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [tools, path] = process.argv.slice(2);
const { Parser } = createRequire(resolve(tools, 'package.json'))('@asyncapi/parser');
const { document, diagnostics } = await new Parser().parse(readFileSync(path, 'utf8'));
// Severity 0 is an error and 1 a warning; what is less is advice, such as to use a newer version.
const wrong = diagnostics.filter((d) => d.severity < 2);
for (const d of wrong) console.error(`${d.code} at ${d.path.join('/')}: ${d.message}`);
process.exit(document && wrong.length === 0 ? 0 : 1);
