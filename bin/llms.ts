import { dirname, join } from 'node:path/posix';

/** The sections of documents that a program needs to put Carillon into a site or an app of the CDK. */
const sections: readonly (readonly [file: string, heading: string])[] = [
  ['docs/deploy.md', '## From the package'],
  ['docs/sdk.md', '## Install'],
  ['docs/sdk.md', '### Serve the service worker'],
  ['docs/sdk.md', '## `Carillon.init(options)`'],
  ['docs/sdk.md', '## The client'],
  ['docs/sending.md', '## Node.js'],
];

/** Generated blocks of docs/api.md, with a heading. */
const blocks: readonly (readonly [heading: string, block: string])[] = [
  ['## Fields of a send', 'send body'],
  ['## Fields of its response', 'send response 201'],
  ['## Error codes', 'error codes'],
];

const introduction = `# Carillon

> A web-push service in your own AWS account: a browser SDK subscribes visitors, your server sends with one HTTP request, and the
> response has the counts.

These are the parts of the documents that put Carillon into a site or an app of the CDK. \`openapi.json\` has the whole API, and the
types of the packages describe each prop, option and field.

1. Deploy, and create a project: \`carillon create\` prints its API key card. To try a site without AWS, run
   \`npm ci && npm start -- --browser\` in a clone instead. \`.carillon/local.env\` then has the values of the card as
   \`CARILLON_BASE_URL\`, \`CARILLON_PROJECT\`, \`CARILLON_APPLICATION_SERVER_KEY\` and \`CARILLON_SECRET_KEY\`. Only the Firefox that this
   opens receives pushes; the site may be on any port of localhost.
2. Put the SDK and its service worker into the site. Without a bundler, load the package's \`carillon.js\` with \`<script src>\` in place
   of the import, and call \`Carillon.init\`.
3. Send from your server. \`CarillonServer.fromEnvironment()\` reads these variables.
   \`carillon.send({ title, userIds: ['ann'] }, { idempotencyKey })\` sends to a user, and without \`userIds\` to every subscriber.
`;

/**
 * The text of llms.txt.
 * @param read returns the text of a document.
 */
export function llmsText(read: (file: string) => string): string {
  const api = read('docs/api.md');
  return [
    introduction,
    ...sections.map(([file, heading]) => withLinksFromRoot(sectionOf(read(file), heading), file)),
    ...blocks.map(([heading, block]) => {
      const [, text] = new RegExp(`<!-- generated: ${block} -->\n([^]*?)<!-- end -->`).exec(api)!;
      return withLinksFromRoot(`${heading}\n\n${text}`, 'docs/api.md');
    }),
  ].join('\n');
}

/** A heading with the text below it, up to the next heading. */
function sectionOf(document: string, heading: string): string {
  const lines = document.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`No document has the heading "${heading}". See bin/llms.ts.`);
  let isCode = false;
  const end = lines.findIndex((line, index) => {
    if (line.startsWith('```')) isCode = !isCode;
    return index > start && !isCode && /^#+ /.test(line);
  });
  const text = lines.slice(start, end < 0 ? undefined : end).join('\n');
  return `${text.trimEnd()}\n`;
}

function withLinksFromRoot(text: string, file: string): string {
  return text.replaceAll(
    /\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)/g,
    (_, target: string, anchor = '') =>
      `](${target === '' ? file : join(dirname(file), target)}${anchor})`,
  );
}
