import { Failure, tools } from './ringfence.js';

const parameters = {
  type: 'object',
  properties: { url: { type: 'string', description: 'An absolute URL, such as `https://example.org/a?b=c`.' } },
  required: ['url'],
  additionalProperties: false,
};

export const guest = tools([
  {
    name: 'parse',
    description: 'Takes a URL apart: its scheme, host, port, path, query and fragment, as a browser reads them.',
    parameters,
    effects: { readOnly: true, pure: true },
    run({ url }) {
      const { protocol, hostname, port, pathname, searchParams, hash } = absolute(url);
      return {
        scheme: protocol.slice(0, -1),
        host: hostname,
        port: port === '' ? null : Number(port),
        path: pathname,
        query: [...searchParams].map(([name, value]) => ({ name, value })),
        fragment: hash.slice(1),
      };
    },
  },
]);

function absolute(url) {
  try {
    return new URL(url);
  } catch {
    throw new Failure('invalid-params', `\`${url}\` is no absolute URL. Begin with a scheme, such as \`https://\`.`);
  }
}
