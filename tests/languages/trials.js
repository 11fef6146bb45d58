// The guest `trials` in JavaScript.

import { send } from 'ringfence:tool/http@0.1.0';
import { log } from 'ringfence:tool/log@0.1.0';
import { getEnvironment } from 'wasi:cli/environment@0.2.0';
import { Failure, tools } from './ringfence.js';

const trials = {
  count({ text }) {
    const words = new Map();
    for (const word of text.split(' ')) words.set(word, (words.get(word) ?? 0) + 1);
    return { words: [...words] };
  },
  add: ({ a, b }) => ({ sum: BigInt(a) + BigInt(b) }),
  fail({ a }) {
    throw new Failure('unavailable', 'Come back later.', { code: 'later', retryAfterMs: BigInt(a) });
  },
  crash() {
    throw new Error('a lemon');
  },
  loop() {
    for (;;);
  },
  allocate() {
    for (const taken = []; ; ) taken.push(new Uint8Array(1 << 20).fill(1));
  },
  log() {
    for (;;) log('info', 'All is well.');
  },
  result: ({ a }) => 'a'.repeat(a),
  environment: ({ text }) => ({ value: getEnvironment().find(([name]) => name === text)?.[1] ?? null }),
  get({ text }) {
    try {
      return { status: send({ method: 'GET', url: text, headers: [] }).status };
    } catch ({ payload }) {
      throw new Failure('failed', payload.message, { code: `http.${payload.kind}` });
    }
  },
};

export const guest = tools([
  {
    name: 'run',
    description: 'Does what it is told.',
    parameters: {
      type: 'object',
      properties: {
        what: { type: 'string' },
        text: { type: 'string' },
        a: { type: 'integer' },
        b: { type: 'integer' },
      },
      required: ['what'],
    },
    run: (args) => trials[args.what](args),
  },
]);
