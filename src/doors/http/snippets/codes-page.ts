import { API_CODES } from '../../../services/snippets/problem-codes.ts'

/** docs/guide/api-codes.md */
export const codesPage = (): string => `# Codes of the code API

Every answer of \`/api/v1/tasks\` and its neighbours is an envelope: \`code\` 0 with \`data\`, or another code with a
\`message\`, mostly a \`detail\`, and a \`retryAfter\` in seconds (and as the header \`Retry-After\`) where asking again helps.
The HTTP status says the same in fewer words. This page is made from the table in \`src/services/snippets/problem-codes.ts\`.

| code | HTTP | message | meaning |
|---|---|---|---|
${Object.values(API_CODES)
  .map(({ code, status, message, means }) => `| ${code} | ${status} | ${message} | ${means} |`)
  .join('\n')}
`
