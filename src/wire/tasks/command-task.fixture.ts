import fc from 'fast-check'
import type { DigestFunction } from '../../base/digest.ts'
import { type CommandResult, type CommandTask, STAGE_CAUSES, SYMLINK_RULES } from '../../model/command-task.ts'
import { ISOLATION_LEVELS } from '../../model/isolation.ts'
import { aDigest, aTimestamp, maybe, someText } from '../messages/messages.fixture.ts'

const someBytes = fc.uint8Array({ maxLength: 30 })
const text = someText.filter((word) => !word.includes('\0'))
const aName = fc.stringMatching(/^[a-z][a-z0-9_-]{0,9}$/)
const segment = fc.stringMatching(/^[A-Za-z0-9é ][A-Za-z0-9._-]{0,6}$/)
const aPath = fc.array(segment, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const variables = fc.array(fc.record({ name: aName, value: text }), { maxLength: 2 })
const amount = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

const someLimits = fc.record(
  {
    wallMs: amount,
    cpuMs: amount,
    memoryBytes: amount,
    pids: amount,
    fileBytes: amount,
    outputBytes: amount,
    openFiles: amount,
    diskBytes: amount,
    outputFloodBytes: amount,
    cpus: fc.integer({ min: 1, max: 64_000 }).map((millis) => millis / 1000),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const aStage = (fn: DigestFunction) =>
  fc.record({
    name: aName,
    argv: fc.array(text, { maxLength: 3 }).map((words) => ['./program', ...words]),
    env: variables,
    stdin: fc.oneof(
      fc.constant(undefined),
      someBytes.map((bytes) => ({ kind: 'inline' as const, bytes })),
      aDigest(fn).map((digest) => ({ kind: 'blob' as const, digest })),
    ),
    limits: someLimits,
    network: fc.boolean(),
  })

/** A valid random task. */
export const aCommandTask = (fn: DigestFunction): fc.Arbitrary<CommandTask> =>
  fc
    .record({
      fn: fc.constant(fn),
      stages: fc.uniqueArray(aStage(fn), { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
      paths: fc.uniqueArray(aPath, { maxLength: 4 }),
      root: maybe(aDigest(fn)),
      cache: maybe(fc.record({ salt: text, outputs: fc.array(aPath, { maxLength: 2 }) })),
      file: fc.record({ contents: someBytes, executable: fc.boolean() }),
      placed: fc.record({ digest: aDigest(fn), executable: fc.boolean(), writable: fc.boolean() }),
      workingDirectory: fc.oneof(fc.constant(''), aPath),
      outputs: fc.record({
        paths: fc.array(aPath, { maxLength: 3 }),
        globs: fc.array(fc.constantFrom('*', '**/*.txt', 'a/[!b]?'), { maxLength: 2 }),
        mostFiles: fc.nat(10_000),
        mostBytes: fc.maxSafeNat(),
        symlinks: fc.constantFrom(...SYMLINK_RULES),
      }),
      platform: variables,
      image: maybe(fc.constant('docker://debian@sha256:0123')),
      places: fc.uniqueArray(
        fc.record({ path: aPath, at: aPath.map((path) => `/srv/${path}`), writable: fc.boolean() }),
        { minLength: 1, maxLength: 2, selector: ({ at }) => at },
      ),
      isolation: fc.constantFrom(...ISOLATION_LEVELS),
      cacheable: fc.boolean(),
    })
    .map(({ paths, root, file, placed, cache, places, ...task }) => ({
      ...task,
      ...(task.image !== undefined && { places }),
      stages: task.stages.map((stage, i) => ({
        ...stage,
        ...(i === 0 && cache !== undefined && { cache }),
        ...(i === 0 && task.image !== undefined && { entrypointAt: stage.argv.length - 1 }),
      })),
      inputs: {
        root,
        files: paths.slice(0, 2).map((path) => ({ path, ...file })),
        placed: paths.slice(2).map((path) => ({ path, ...placed })),
      },
    }))

const aStream = (fn: DigestFunction) =>
  fc
    .record({ inline: someBytes, digest: maybe(aDigest(fn)), droppedBytes: fc.nat(), droppedAt: fc.nat() })
    .map((stream) => ({ ...stream, inline: stream.digest === undefined ? stream.inline : undefined }))

export function aCommandResult(fn: DigestFunction): fc.Arbitrary<CommandResult> {
  const said = maybe(someText.filter((words) => words !== ''))
  const stage = fc.record({
    name: aName,
    cause: fc.constantFrom(...STAGE_CAUSES),
    exitCode: fc.integer({ min: -1, max: 255 }),
    signal: said,
    reason: said,
    stdout: aStream(fn),
    stderr: aStream(fn),
    usage: fc.record({
      wallMs: fc.nat(),
      cpuUserMs: maybe(fc.nat()),
      cpuSystemMs: maybe(fc.nat()),
      peakMemoryBytes: maybe(fc.maxSafeNat()),
      how: fc.constantFrom('counted' as const, 'sampled' as const),
    }),
  })
  return fc.record({
    stages: fc.array(stage, { minLength: 1, maxLength: 3 }),
    outputs: fc.record({
      root: maybe(aDigest(fn)),
      files: fc.array(fc.record({ path: aPath, digest: aDigest(fn), executable: fc.boolean() }), { maxLength: 3 }),
      symlinks: fc.array(fc.record({ path: aPath, target: someText }), { maxLength: 2 }),
      problem: said,
    }),
    metadata: fc.record({
      worker: someText,
      times: fc.dictionary(fc.constantFrom('queued', 'workerStart', 'executionStart'), aTimestamp, {
        noNullPrototype: true,
      }),
      virtualDurationMs: maybe(fc.nat(10_000_000)),
      auxiliary: fc.array(fc.record({ typeUrl: someText, value: someBytes }), { maxLength: 2 }),
    }),
  })
}
