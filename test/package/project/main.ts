/** A program of another project that depends on the package: `node out/main.js SERVER FOLDER`. */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  CommandFailed,
  type CommandOutcome,
  connectGrid,
  FaultError,
  type GridConnection,
  type RemoteSubmission,
  SnippetsError,
} from 'windlass/client'

const [, , server = '', folder = ''] = process.argv

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

async function command(grid: GridConnection): Promise<CommandOutcome> {
  writeFileSync(`${folder}/names.txt`, 'b\na\n')
  return await grid.run({
    argv: ['/bin/sh', '-c', 'sort names.txt | tee sorted.txt; cat; echo "$WORD" >&2; exit 3'],
    input: folder,
    stdin: 'typed\n',
    env: { WORD: 'loud' },
    outputPaths: ['sorted.txt'],
    outputDirectory: `${folder}/results`,
  })
}

async function timeout(grid: GridConnection): Promise<string> {
  const run = grid.run({ argv: ['/bin/sleep', '60'], timeoutMs: 500 })
  return await run.then(
    () => 'no error',
    (error: unknown) => (error instanceof CommandFailed ? error.kind : String(error)),
  )
}

async function workflow(grid: GridConnection): Promise<RemoteSubmission['state']> {
  const workflows = await grid.workflows()
  const { id } = await workflows.create({
    workflow: { cwlVersion: 'v1.2', class: 'CommandLineTool', baseCommand: ['echo', 'hello'], inputs: {}, outputs: {} },
    ...{ inputs: {}, schemas: {}, name: 'hello', instance: '', labels: {} },
  })
  let { state } = await workflows.find(id)
  for await (const event of workflows.events(id, { last: undefined, steps: 'all' }))
    if (event.kind === 'status') state = event.submission.state
  return state
}

using grid = connectGrid(server)
const digest = await grid.uploadBytes(Buffer.from('some bytes'))
const { exitCode, stdout, stderr, outputs } = await command(grid)
const snippets = await grid.snippets()
const snippet = await snippets.run({ language: 'bash', code: 'echo $((6 * 7))' })
const refused = await snippets.run({ language: 'klingon', code: '' }).catch((error: unknown) => error)
const unreached = await connectGrid('grpc://127.0.0.1:1')
  .read(digest)
  .catch((error: unknown) => error)

console.log(
  JSON.stringify({
    read: text(await grid.read(digest)),
    folder: (await grid.upload(folder)).fn,
    command: { exitCode, stdout: text(stdout), stderr: text(stderr), outputs },
    output: readFileSync(`${folder}/results/sorted.txt`, 'utf8'),
    timeout: await timeout(grid),
    snippet: { status: snippet.status, output: snippet.result?.output },
    refused: refused instanceof SnippetsError && refused.status,
    unreached: unreached instanceof FaultError && unreached.fault.kind,
    workflow: await workflow(grid),
    workers: (await grid.admin.workers()).length,
  }),
)
