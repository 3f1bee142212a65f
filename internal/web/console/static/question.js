// questionAt fetches the page of one question, which names the person who has answered, and returns the
// question; null if the reader may not see it. Its address is without the private path.
import { get, parse } from './get.js';
import { privatePath } from './private-path.js';

export async function questionAt(address) {
  const answer = await get(privatePath + address);
  return answer.ok ? parse(await answer.text()).querySelector('[data-question]') : null;
}
