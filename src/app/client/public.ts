/**
 * `windlass/client`, the public API for programs. This file is the whole of it: what it exports stays compatible as
 * RELEASING.md describes, everything else in the package may change. It lists its exports on purpose
 * (docs/decisions/0006-public-client.md); nothing inside the repository imports it but its tests.
 *
 * @packageDocumentation
 */
import { randomUUID } from 'node:crypto'
import { type GridConnection, type GridConnectionOptions, openGridConnection } from '../../client/grid-connection.ts'
import { lastingClock } from '../process/clock.ts'
import { version } from '../process/version.ts'

/**
 * Connects to a Windlass server: `grpc://host:port`, `grpcs://`, `http://`, `https://` or `unix:/path`.
 *
 * @example Run a command with the files of a directory, and download what it writes.
 * ```ts
 * import { connectGrid } from 'windlass/client'
 *
 * using grid = connectGrid('grpc://127.0.0.1:8980')
 * const { exitCode, stdout } = await grid.run({
 *   argv: ['sh', '-c', 'sort names.txt | tee sorted.txt'],
 *   input: './data',
 *   outputPaths: ['sorted.txt'],
 *   outputDirectory: './results',
 * })
 * console.log(exitCode, Buffer.from(stdout).toString())
 * ```
 *
 * @example Run a few lines of code.
 * ```ts
 * using grid = connectGrid('grpc://127.0.0.1:8980')
 * const snippets = await grid.snippets()
 * const task = await snippets.run({ language: 'python', code: 'print(6 * 7)' })
 * console.log(task.status, task.result?.output)
 * ```
 *
 * @example Run a CWL workflow and wait for its end.
 * ```ts
 * using grid = connectGrid('grpc://127.0.0.1:8980')
 * const workflows = await grid.workflows()
 * const { id } = await workflows.create({
 *   workflow: { cwlVersion: 'v1.2', class: 'CommandLineTool', baseCommand: ['echo', 'hello'], inputs: {}, outputs: {} },
 *   inputs: {}, schemas: {}, name: 'hello', instance: '', labels: {},
 * })
 * for await (const event of workflows.events(id, { last: undefined, steps: 'all' }))
 *   if (event.kind === 'status') console.log(event.submission.state)
 * ```
 */
export const connectGrid = (server: string, options: GridConnectionOptions = {}): GridConnection =>
  openGridConnection(server, options, { clock: lastingClock, newId: randomUUID, about: aboutThisPackage() })

const aboutThisPackage = () => ({
  ...{ toolName: 'windlass/client', toolVersion: version(), actionMnemonic: 'run' },
  ...{ actionId: '', toolInvocationId: '', correlatedInvocationsId: '', targetId: '', configurationId: '' },
})

export type { Digest, DigestFunction } from '../../base/digest.ts'
// biome-ignore lint/performance/noBarrelFile: the list of what is public, see docs/decisions/0006-public-client.md
export { FaultError } from '../../base/fault.ts'
export type { GridConnection, GridConnectionOptions } from '../../client/grid-connection.ts'
export { CommandFailed, type CommandOutcome, type CommandRequest } from '../../client/remote-command.ts'
export type {
  NewSnippet,
  NewSnippetFile,
  SnippetResultView,
  SnippetTaskView,
  SubmittedTask,
  TaskEvent,
  TaskLimits,
} from '../../client/snippets/snippet-answers.ts'
export { type SnippetsClient, SnippetsError } from '../../client/snippets/snippets.ts'
export type {
  NewSubmission,
  RemoteEvent,
  RemoteStep,
  RemoteSubmission,
  SubmissionsClient,
} from '../../client/workflows/client.ts'
