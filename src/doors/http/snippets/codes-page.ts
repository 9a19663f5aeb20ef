import { API_CODES } from '../../../services/snippets/problem-codes.ts'

/** The text of docs/guide/api-codes.md. */
export const codesPage = (): string => `# Codes of the code API

Every response below \`/api/v1\` is an envelope: \`code\` 0 with \`data\`, or another code with a \`message\`, usually a
\`detail\`, and, where a retry helps, a \`retryAfter\` in seconds (also as the header \`Retry-After\`). The HTTP status is a
coarser form of the code. This page is made from the table in \`src/services/snippets/problem-codes.ts\`.

| code | HTTP | message | meaning |
|---|---|---|---|
${Object.values(API_CODES)
  .map(({ code, status, message, means }) => `| ${code} | ${status} | ${message} | ${means} |`)
  .join('\n')}
`
