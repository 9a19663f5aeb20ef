import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, same, sameBytes } from '../../unmet.ts'
import { encodedTree, resultFrom, storedAction, storedResult } from '../probe/actions.ts'
import type { Blob } from '../probe/blob.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const MiB = 1024 * 1024

/** A server may refuse to store a result whose outputs are missing; that is correct as well. */
const missesWithout =
  (resultFor: (probe: Probe) => Promise<Parameters<typeof resultFrom>[0]>): Check =>
  async (probe) => {
    const parts = await resultFor(probe)
    const { action } = await storedAction(probe)
    const update = probe.api.updateResult({ actionDigest: action.digest, actionResult: resultFrom(parts) })
    const codes = [STATUS.failedPrecondition, STATUS.invalidArgument, STATUS.notFound] as const
    await update.catch((error: unknown) => expectRefusal('the update', codes, Promise.reject(error)))
    await expectRefusal('the lookup', STATUS.notFound, probe.api.getResult(action.digest))
  }

/** A tree with a file in its root and one in its only child. */
function treeOf({ blobOf }: Probe, inRoot: Blob, inChild: Blob) {
  const child = { files: [{ name: 'inner', digest: inChild.digest }] }
  const bytes = encodedTree({ root: { files: [{ name: 'outer', digest: inRoot.digest }] }, children: [child] })
  return blobOf(bytes)
}

const outputDirectory = (tree: Blob) => ({ outputDirectories: [{ path: 'out', treeDigest: tree.digest }] })

/** Two output files, stdout and stderr, all there. */
async function richResult(probe: Probe) {
  const { blob, put } = probe
  const [one, two, out, err] = [await put(blob()), await put(blob()), await put(blob()), await put(blob())]
  const { actionDigest } = await storedResult(probe, {
    outputFiles: [
      { path: 'a/one', digest: one.digest },
      { path: 'a/two', digest: two.digest },
    ],
    stdoutDigest: out.digest,
    stderrDigest: err.digest,
  })
  return { actionDigest, one, two, out, err }
}

/** A hint may be ignored; what is inlined has to be right, and the digest has to stay. */
function inlined(seen: Uint8Array, expected: Blob, digest: { readonly hash: string } | undefined): void {
  if (seen.length > 0) sameBytes('what is inlined', seen, expected.bytes)
  same('digest', digest?.hash ?? 'not set', expected.digest.hash)
}

function unasked(seen: Uint8Array, expected: Blob, digest: { readonly hash: string } | undefined): void {
  same('bytes inlined:', seen.length, 0)
  same('digest', digest?.hash ?? 'not set', expected.digest.hash)
}

export const getResultChecks = {
  async 'action-cache.get.miss'({ api, blob }) {
    await expectRefusal('the lookup', STATUS.notFound, api.getResult(blob().digest))
  },
  'action-cache.get.missing-file': missesWithout(async ({ blob }) => ({
    outputFiles: [{ path: 'gone', digest: blob().digest }],
  })),
  'action-cache.get.missing-stdout': missesWithout(async ({ blob }) => ({ stdoutDigest: blob().digest })),
  'action-cache.get.missing-stderr': missesWithout(async ({ blob }) => ({ stderrDigest: blob().digest })),
  'action-cache.get.missing-tree': missesWithout(async (probe) =>
    outputDirectory(treeOf(probe, await probe.put(probe.blob()), await probe.put(probe.blob()))),
  ),
  'action-cache.get.missing-tree-file': missesWithout(async (probe) =>
    outputDirectory(await probe.put(treeOf(probe, probe.blob(), await probe.put(probe.blob())))),
  ),
  'action-cache.get.missing-tree-child-file': missesWithout(async (probe) =>
    outputDirectory(await probe.put(treeOf(probe, await probe.put(probe.blob()), probe.blob()))),
  ),
  async 'action-cache.get.complete-tree'(probe) {
    const tree = treeOf(probe, await probe.put(probe.blob()), await probe.put(probe.blob()))
    const { actionDigest } = await storedResult(probe, outputDirectory(await probe.put(tree)))
    same('output directories:', (await probe.api.getResult(actionDigest)).outputDirectories.length, 1)
  },
  async 'action-cache.get.stdout-unasked'(probe) {
    const { actionDigest, out } = await richResult(probe)
    const { stdoutRaw, stdoutDigest } = await probe.api.getResult(actionDigest)
    unasked(stdoutRaw, out, stdoutDigest)
  },
  async 'action-cache.get.stderr-unasked'(probe) {
    const { actionDigest, err } = await richResult(probe)
    const { stderrRaw, stderrDigest } = await probe.api.getResult(actionDigest)
    unasked(stderrRaw, err, stderrDigest)
  },
  async 'action-cache.get.file-unasked'(probe) {
    const { actionDigest, one } = await richResult(probe)
    const { outputFiles } = await probe.api.getResult(actionDigest)
    const file = outputFiles.find(({ path }) => path === 'a/one')
    unasked(file?.contents ?? new Uint8Array(), one, file?.digest)
  },
  async 'action-cache.get.stdout-inlined'(probe) {
    const { actionDigest, out } = await richResult(probe)
    const { stdoutRaw, stdoutDigest } = await probe.api.getResult(actionDigest, { inlineStdout: true })
    inlined(stdoutRaw, out, stdoutDigest)
  },
  async 'action-cache.get.stderr-inlined'(probe) {
    const { actionDigest, err } = await richResult(probe)
    const { stderrRaw, stderrDigest } = await probe.api.getResult(actionDigest, { inlineStderr: true })
    inlined(stderrRaw, err, stderrDigest)
  },
  async 'action-cache.get.file-inlined'(probe) {
    const { actionDigest, one } = await richResult(probe)
    const { outputFiles } = await probe.api.getResult(actionDigest, { inlineOutputFiles: ['a/one'] })
    const file = outputFiles.find(({ path }) => path === 'a/one')
    inlined(file?.contents ?? new Uint8Array(), one, file?.digest)
  },
  async 'action-cache.get.other-file-unasked'(probe) {
    const { actionDigest, two } = await richResult(probe)
    const { outputFiles } = await probe.api.getResult(actionDigest, { inlineOutputFiles: ['a/one'] })
    const file = outputFiles.find(({ path }) => path === 'a/two')
    unasked(file?.contents ?? new Uint8Array(), two, file?.digest)
  },
  async 'action-cache.get.inline-unknown-path'(probe) {
    const { actionDigest } = await richResult(probe)
    const { outputFiles } = await probe.api.getResult(actionDigest, { inlineOutputFiles: ['no/such/output'] })
    same('output files:', outputFiles.length, 2)
  },
  async 'action-cache.get.inline-bounded'(probe) {
    const { blob, put } = probe
    const files = await Promise.all([0, 1, 2].map(() => put(blob(2 * MiB))))
    const outputFiles = files.map(({ digest }, index) => ({ path: `f${index}`, digest }))
    const { actionDigest } = await storedResult(probe, { outputFiles })
    const answer = await probe.api.getResult(actionDigest, { inlineOutputFiles: ['f0', 'f1', 'f2'] })
    const total = answer.outputFiles.reduce((sum, { contents }) => sum + contents.length, 0)
    ensure(total < 4 * MiB, `an answer below ${4 * MiB} bytes`, `${total} bytes inlined`)
  },
  async 'action-cache.get.failed-not-served'(probe) {
    const { action } = await storedAction(probe)
    const update = probe.api.updateResult({ actionDigest: action.digest, actionResult: resultFrom({ exitCode: 1 }) })
    await update.catch((error: unknown) => {
      if (!(error instanceof GrpcError)) throw error
    })
    await expectRefusal('the lookup', STATUS.notFound, probe.api.getResult(action.digest))
  },
  async 'action-cache.get.per-instance'(probe) {
    const { actionDigest } = await storedResult(probe, {})
    const other = probe.elsewhere(`${probe.offer.instance === '' ? 'other' : `${probe.offer.instance}-other`}`)
    const codes = [STATUS.notFound, STATUS.invalidArgument, STATUS.permissionDenied, STATUS.unauthenticated] as const
    await expectRefusal('the lookup under another instance', codes, other.getResult(actionDigest))
  },
} satisfies Partial<Record<BehaviourId, Check>>
