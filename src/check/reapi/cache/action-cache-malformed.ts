import { STATUS } from '../../../grpc/status.ts'
import type { ActionResult, DeepPartial } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { expectRefusal } from '../../unmet.ts'
import { encodedDirectory, encodedTree, resultFrom, storedAction } from '../probe/actions.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

type Parts = DeepPartial<ActionResult>

/** Every blob that the result names is there, so only its form is wrong. Either call may refuse it. */
const neverServed =
  (resultFor: (probe: Probe) => Promise<Parts>): Check =>
  async (probe) => {
    const parts = await resultFor(probe)
    const { action } = await storedAction(probe)
    const update = probe.api.updateResult({ actionDigest: action.digest, actionResult: resultFrom(parts) })
    const codes = [STATUS.invalidArgument, STATUS.failedPrecondition] as const
    await update.catch((error: unknown) => expectRefusal('the update', codes, Promise.reject(error)))
    await expectRefusal('the lookup', STATUS.notFound, probe.api.getResult(action.digest))
  }

const files = (...paths: readonly string[]): Check =>
  neverServed(async ({ put, blob }) => {
    const { digest } = await put(blob())
    return { outputFiles: paths.map((path) => ({ path, digest })) }
  })

const tree = (partsFor: (probe: Probe) => Promise<Parameters<typeof encodedTree>[0]>, more: object = {}): Check =>
  neverServed(async (probe) => {
    const { digest } = await probe.put(probe.blobOf(encodedTree(await partsFor(probe))))
    return { outputDirectories: [{ path: 'out', treeDigest: digest, ...more }] }
  })

const nodeNamed = (name: string): Check =>
  tree(async ({ put, blob }) => ({ root: { files: [{ name, digest: (await put(blob())).digest }] } }))

/** Three levels, the lowest before the one that names it. */
async function childFirst({ put, blob, blobOf }: Probe): Promise<Parameters<typeof encodedTree>[0]> {
  const lowest = { files: [{ name: 'f', digest: (await put(blob())).digest }] }
  const middle = { directories: [{ name: 'e', digest: blobOf(encodedDirectory(lowest)).digest }] }
  const root = { directories: [{ name: 'd', digest: blobOf(encodedDirectory(middle)).digest }] }
  return { root, children: [lowest, middle] }
}

export const malformedResultChecks = {
  'action-cache.malformed.path-outside': files('../outside'),
  'action-cache.malformed.path-detour': files('a/../../outside'),
  'action-cache.malformed.path-absolute': files('/tmp/absolute'),
  'action-cache.malformed.path-nul': files('a\0b'),
  'action-cache.malformed.path-empty': files(''),
  'action-cache.malformed.path-twice': files('twice', 'twice'),
  'action-cache.malformed.path-below-file': files('file', 'file/below'),
  'action-cache.malformed.path-below-symlink': neverServed(async ({ put, blob }) => ({
    outputFiles: [{ path: 'link/below', digest: (await put(blob())).digest }],
    outputSymlinks: [{ path: 'link', target: '/tmp' }],
  })),
  'action-cache.malformed.directory-outside': neverServed(async ({ put, blobOf }) => ({
    outputDirectories: [{ path: '..', treeDigest: (await put(blobOf(encodedTree({ root: {} })))).digest }],
  })),
  'action-cache.malformed.symlink-outside': neverServed(async () => ({
    outputSymlinks: [{ path: '../link', target: 'x' }],
  })),
  'action-cache.malformed.symlink-target': neverServed(async () => ({
    outputSymlinks: [{ path: 'link', target: '' }],
  })),
  'action-cache.malformed.stdout-contradicts': neverServed(async ({ put, blob }) => {
    const { digest, bytes } = await put(blob())
    return { stdoutDigest: digest, stdoutRaw: Buffer.from(bytes).fill(0) }
  }),
  'action-cache.malformed.stderr-contradicts': neverServed(async ({ put, blob }) => {
    const { digest, bytes } = await put(blob())
    return { stderrDigest: digest, stderrRaw: bytes.subarray(1) }
  }),
  'action-cache.malformed.file-contradicts': neverServed(async ({ put, blob }) => {
    const { digest, bytes } = await put(blob())
    return { outputFiles: [{ path: 'file', digest, contents: Buffer.from(bytes).fill(0) }] }
  }),
  'action-cache.malformed.tree-name-slash': nodeNamed('a/b'),
  'action-cache.malformed.tree-name-dots': nodeNamed('..'),
  'action-cache.malformed.tree-name-empty': nodeNamed(''),
  'action-cache.malformed.tree-name-nul': nodeNamed('a\0b'),
  'action-cache.malformed.tree-name-twice': tree(async ({ put, blob }) => {
    const { digest } = await put(blob())
    return { root: { files: [{ name: 'twice', digest }], symlinks: [{ name: 'twice', target: 'x' }] } }
  }),
  'action-cache.malformed.tree-absent-child': tree(async ({ blob }) => ({
    root: { directories: [{ name: 'absent', digest: blob().digest }] },
  })),
  'action-cache.malformed.tree-no-root': tree(async ({ put, blob }) => ({
    children: [{ files: [{ name: 'f', digest: (await put(blob())).digest }] }],
  })),
  'action-cache.malformed.tree-unsorted': tree(childFirst, { isTopologicallySorted: true }),
} satisfies Partial<Record<BehaviourId, Check>>
