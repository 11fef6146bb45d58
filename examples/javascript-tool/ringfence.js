// What every tool in JavaScript needs of the contract `ringfence:tool@0.1.0`. Copy this file beside tools of your own.

import { panicked } from 'ringfence:tool/log@0.1.0';

/** A failure that the caller is told. `kind` is a case of the contract's `failure-kind`, such as `invalid-params`. */
export class Failure extends Error {
  constructor(kind, message, { code = kind.replaceAll('-', '_'), retryAfterMs } = {}) {
    super(message);
    // componentize-js takes from here what the contract's `result` holds.
    this.payload = { kind, code, message, retryAfterMs };
  }
}

/** The contract's `guest`, made of tools: their definitions as plain objects, each with the function `run`. */
export function tools(list) {
  return {
    definitions: () => list.map(definition),

    async call(name, parameters, info) {
      const tool = list.find((tool) => tool.name === name);
      if (!tool) throw new Failure('not-found', `This component has no tool \`${name}\`.`);
      try {
        return output(await tool.run(fromJson(parameters), info));
      } catch (error) {
        // An exception that nobody expected ends the call, and the host says why.
        if (!(error instanceof Failure)) panicked(`${error}\n${error?.stack ?? ''}`);
        throw error;
      }
    },
  };
}

function definition({ name, description, parameters, effects, ...rest }) {
  return {
    approval: 'never',
    rules: [],
    deferrable: false,
    categories: [],
    examples: [],
    ...rest,
    name,
    description,
    parameters: toJson(parameters),
    effects: effects ?? {},
  };
}

/** A text is for the model as it is; anything else is a structured result. */
function output(value) {
  if (typeof value === 'string') return { content: [{ tag: 'text', val: value }] };
  const json = toJson(value);
  return { content: [{ tag: 'json', val: json }], structured: json };
}

/** JSON whose integers stay exact: those that a number cannot hold become a BigInt. */
export function fromJson(text) {
  return JSON.parse(text, (_key, value, { source }) => {
    const exact = typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source);
    return exact ? value : BigInt(source);
  });
}

export function toJson(value) {
  return JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? JSON.rawJSON(part.toString()) : part));
}
