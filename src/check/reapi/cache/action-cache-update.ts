import { STATUS } from '../../../grpc/status.ts'
import { expectRefusal, same } from '../../unmet.ts'
import { encodedTree, resultFrom, storedAction, storedResult } from '../probe/actions.ts'
import type { Check } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

export const updateResultChecks = {
  async 'action-cache.update.stores'(probe) {
    const { digest } = await probe.put(probe.blob())
    const { actionDigest } = await storedResult(probe, { stdoutDigest: digest })
    const { stdoutDigest, exitCode } = await probe.api.getResult(actionDigest)
    same('exit code', exitCode, 0)
    same('stdout', stdoutDigest?.hash ?? 'not set', digest.hash)
  },
  async 'action-cache.update.answers'(probe) {
    const { digest } = await probe.put(probe.blob())
    const { answer } = await storedResult(probe, { stdoutDigest: digest })
    same('stdout', answer.stdoutDigest?.hash ?? 'not set', digest.hash)
  },
  async 'action-cache.update.overwrites'(probe) {
    const { blob, put, api } = probe
    const { actionDigest } = await storedResult(probe, { stdoutDigest: (await put(blob())).digest })
    const { digest } = await put(blob())
    await api.updateResult({ actionDigest, actionResult: resultFrom({ stdoutDigest: digest }) })
    same('stdout', (await api.getResult(actionDigest)).stdoutDigest?.hash ?? 'not set', digest.hash)
  },
  async 'action-cache.update.keeps-files'(probe) {
    const { digest } = await probe.put(probe.blob())
    const { actionDigest } = await storedResult(probe, {
      outputFiles: [
        { path: 'bin/tool', digest, isExecutable: true },
        { path: 'doc', digest },
      ],
    })
    const { outputFiles } = await probe.api.getResult(actionDigest)
    const tool = outputFiles.find(({ path }) => path === 'bin/tool')
    const doc = outputFiles.find(({ path }) => path === 'doc')
    same('digest', tool?.digest?.hash ?? 'not set', digest.hash)
    same('bin/tool is executable:', tool?.isExecutable ?? false, true)
    same('doc is executable:', doc?.isExecutable ?? true, false)
  },
  async 'action-cache.update.keeps-directories'(probe) {
    const tree = await probe.put(
      probe.blobOf(encodedTree({ root: { symlinks: [{ name: probe.random.word(), target: 'x' }] } })),
    )
    const { actionDigest } = await storedResult(probe, {
      outputDirectories: [{ path: 'out/dir', treeDigest: tree.digest }],
    })
    const [directory] = (await probe.api.getResult(actionDigest)).outputDirectories
    same('path', directory?.path ?? 'none', 'out/dir')
    same('tree', directory?.treeDigest?.hash ?? 'not set', tree.digest.hash)
  },
  async 'action-cache.update.keeps-symlinks'(probe) {
    const { actionDigest } = await storedResult(probe, { outputSymlinks: [{ path: 'latest', target: 'v2/final' }] })
    const [link] = (await probe.api.getResult(actionDigest)).outputSymlinks
    same('path', link?.path ?? 'none', 'latest')
    same('target', link?.target ?? 'none', 'v2/final')
  },
  async 'action-cache.update.keeps-metadata'(probe) {
    const executionMetadata = { worker: probe.random.word(), queuedTimestamp: { seconds: 1_700_000_000, nanos: 7 } }
    const { actionDigest } = await storedResult(probe, { executionMetadata })
    const { executionMetadata: kept } = await probe.api.getResult(actionDigest)
    same('worker', kept?.worker ?? 'not set', executionMetadata.worker)
    same('queued at', kept?.queuedTimestamp?.seconds ?? 0, 1_700_000_000)
    same('nanoseconds', kept?.queuedTimestamp?.nanos ?? 0, 7)
  },
  async 'action-cache.update.missing-action'({ api, blob }) {
    const call = api.updateResult({ actionDigest: blob().digest, actionResult: resultFrom({}) })
    await call.catch((error: unknown) => expectRefusal('the update', STATUS.failedPrecondition, Promise.reject(error)))
  },
  async 'action-cache.update.malformed-digest'({ api, blob }) {
    const { hash, sizeBytes } = blob().digest
    const actionDigest = { hash: hash.slice(1), sizeBytes }
    const call = api.updateResult({ actionDigest, actionResult: resultFrom({}) })
    await expectRefusal('the update', STATUS.invalidArgument, call)
  },
  async 'action-cache.update.no-result'(probe) {
    const { action } = await storedAction(probe)
    const call = probe.api.updateResult({ actionDigest: action.digest })
    await expectRefusal('the update', STATUS.invalidArgument, call)
  },
  async 'action-cache.update.denied'(probe) {
    const { action } = await storedAction(probe)
    const codes = [STATUS.permissionDenied, STATUS.unimplemented, STATUS.failedPrecondition, STATUS.unauthenticated]
    const call = probe.api.updateResult({ actionDigest: action.digest, actionResult: resultFrom({}) })
    await expectRefusal('the update', codes, call)
  },
} satisfies Partial<Record<BehaviourId, Check>>
