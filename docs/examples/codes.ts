// Logs a person in by a one-time code: node codes.ts +15550100003. HERALD_API_KEY is the key of an OTP project.
import { createInterface } from 'node:readline';
import { createHeraldClient, isHeraldError } from '@herald/client';

const [to = ''] = process.argv.slice(2);
const herald = createHeraldClient({ baseUrl: process.env.HERALD_URL!, apiKey: process.env.HERALD_API_KEY! });

const sent = await herald.otp.send({ to });
// Only a sandbox answers with the code.
if (sent.test_code !== undefined) console.log('test code', sent.test_code);
console.log('Type the code:');
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  try {
    const { recipient } = await herald.otp.verify({ id: sent.id, code: line.trim() });
    console.log('logged in:', recipient);
    break;
  } catch (error) {
    // Anything else needs a new code: it has expired, was used, or its guesses are used up.
    if (!isHeraldError(error, 'OTP_CODE_INCORRECT') && !isHeraldError(error, 'INVALID_REQUEST')) throw error;
    console.log('not right:', error.code);
    console.log('Type the code:');
  }
}
lines.close();
