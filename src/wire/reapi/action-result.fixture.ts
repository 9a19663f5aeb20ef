import fc from 'fast-check'
import type { DigestFunction } from '../../base/digest.ts'
import type { ActionResult, ExecutedActionMetadata, ExecutionTime } from '../../model/action-result.ts'
import type { Directory } from '../../model/directory.ts'
import { aDigest, aTimestamp, maybe, someProperties, someText } from '../messages/messages.fixture.ts'

const aPath = someText.filter((path) => !path.startsWith('/'))
const someBytes = fc.uint8Array({ minLength: 1, maxLength: 30 })
const times = [
  'queued',
  'workerStart',
  'inputFetchStart',
  'inputFetchCompleted',
  'executionStart',
  'executionCompleted',
  'outputUploadStart',
  'outputUploadCompleted',
  'workerCompleted',
] as const satisfies ExecutionTime[]

const aMetadata: fc.Arbitrary<ExecutedActionMetadata> = fc.record({
  worker: someText,
  times: fc.dictionary(fc.constantFrom(...times), aTimestamp, { noNullPrototype: true }),
  virtualDurationMs: maybe(fc.nat(10_000_000)),
  auxiliary: fc.array(fc.record({ typeUrl: someText, value: someBytes }), { maxLength: 2 }),
})

export function anActionResult(fn: DigestFunction): fc.Arbitrary<ActionResult> {
  const symlinks = fc.array(fc.record({ path: aPath, target: someText, properties: maybe(someProperties) }), {
    maxLength: 2,
  })
  const stream = fc.record({ digest: maybe(aDigest(fn)), raw: maybe(someBytes) })
  const file = fc.record({
    path: aPath,
    digest: aDigest(fn),
    executable: fc.boolean(),
    contents: maybe(someBytes),
    properties: maybe(someProperties),
  })
  const directory = fc
    .record({
      path: aPath,
      treeDigest: maybe(aDigest(fn)),
      topologicallySorted: fc.boolean(),
      rootDigest: maybe(aDigest(fn)),
    })
    .filter(({ treeDigest, rootDigest }) => treeDigest !== undefined || rootDigest !== undefined)
  return fc.record({
    exitCode: fc.integer({ min: -200, max: 255 }),
    outputFiles: fc.array(file, { maxLength: 4 }),
    outputDirectories: fc.array(directory, { maxLength: 3 }),
    outputSymlinks: symlinks,
    legacyFileSymlinks: symlinks,
    legacyDirectorySymlinks: symlinks,
    stdout: stream,
    stderr: stream,
    metadata: maybe(aMetadata),
  })
}

const aName = someText.filter((name) => name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name))

/** Its nodes are sorted as in messages, so that it equals the decoded directory. */
export const aDirectory = (fn: DigestFunction): fc.Arbitrary<Directory> =>
  fc
    .record({
      names: fc.uniqueArray(aName, { maxLength: 9 }),
      digests: fc.array(aDigest(fn), { minLength: 9, maxLength: 9 }),
      executable: fc.boolean(),
      target: someText,
      properties: maybe(someProperties),
    })
    .map(({ names, digests, executable, target, properties }) => {
      const third = (part: number) =>
        names
          .filter((_, index) => index % 3 === part)
          .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      const digest = (index: number) => digests[index] as (typeof digests)[0]
      return {
        files: third(0).map((name, index) => ({ name, digest: digest(index), executable, properties })),
        directories: third(1).map((name, index) => ({ name, digest: digest(index + 3) })),
        symlinks: third(2).map((name) => ({ name, target, properties })),
        properties,
      }
    })
