import { STATUS } from '../../../grpc/status.ts'
import {
  ActionResult,
  type Directory,
  Tree,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { after, type Break, fail, misread, when } from './break.ts'
import type { Honest } from './honest.ts'
import { storeKey } from './store.ts'

const INVALID = STATUS.invalidArgument
const WRONG = Buffer.from('not what was stored')

/** Returns results that match although the correct server would not. */
const servesAnyway =
  (isSo: (result: ActionResult, honest: Honest) => boolean): Break =>
  (honest) => {
    const stored = new Map<string, ActionResult>()
    return {
      updateActionResult(request) {
        const answer = honest.methods.updateActionResult(request)
        stored.set(request.actionDigest?.hash ?? '', answer)
        return answer
      },
      getActionResult(request) {
        const result = stored.get(request.actionDigest?.hash ?? '')
        const isLenient = result !== undefined && request.actionDigest?.hash.length === 64 && isSo(result, honest)
        return isLenient ? result : honest.methods.getActionResult(request)
      },
    }
  }

function treeOf({ outputDirectories }: ActionResult, { store }: Honest): Tree | undefined {
  const digest = outputDirectories[0]?.treeDigest
  const bytes = digest === undefined ? undefined : store.get(storeKey(digest))
  return bytes === undefined ? undefined : Tree.decode(bytes)
}

const lacksFile = (directory: Directory | undefined, { store }: Honest): boolean =>
  directory?.files.some(({ digest }) => digest !== undefined && !store.has(storeKey(digest))) ?? false

export const getResultBreaks = {
  'action-cache.get.miss': when(
    'getActionResult',
    ({ actionDigest }) => actionDigest?.sizeBytes === 1_000,
    () => ActionResult.fromPartial({}),
  ),
  'action-cache.get.missing-file': servesAnyway(({ outputFiles }) => outputFiles.length > 0),
  'action-cache.get.missing-stdout': servesAnyway(({ stdoutDigest }) => stdoutDigest !== undefined),
  'action-cache.get.missing-stderr': servesAnyway(({ stderrDigest }) => stderrDigest !== undefined),
  'action-cache.get.missing-tree': servesAnyway(
    (result, honest) => result.outputDirectories.length > 0 && treeOf(result, honest) === undefined,
  ),
  'action-cache.get.missing-tree-file': servesAnyway((result, honest) =>
    lacksFile(treeOf(result, honest)?.root, honest),
  ),
  'action-cache.get.missing-tree-child-file': servesAnyway((result, honest) =>
    lacksFile(treeOf(result, honest)?.children[0], honest),
  ),
  'action-cache.get.complete-tree': after('getActionResult', (result, _, honest) =>
    (treeOf(result, honest)?.children.length ?? 0) > 0 ? fail(STATUS.notFound)() : result,
  ),
  'action-cache.get.stdout-unasked': misread('getActionResult', (request) => ({ ...request, inlineStdout: true })),
  'action-cache.get.stderr-unasked': misread('getActionResult', (request) => ({ ...request, inlineStderr: true })),
  'action-cache.get.file-unasked': misread('getActionResult', (request) =>
    request.inlineOutputFiles.length === 0 ? { ...request, inlineOutputFiles: ['a/one'] } : request,
  ),
  'action-cache.get.stdout-inlined': after('getActionResult', (result, { inlineStdout }) =>
    inlineStdout ? { ...result, stdoutRaw: WRONG } : result,
  ),
  'action-cache.get.stderr-inlined': after('getActionResult', (result, { inlineStderr }) =>
    inlineStderr ? { ...result, stderrDigest: undefined } : result,
  ),
  'action-cache.get.file-inlined': after('getActionResult', (result) => ({
    ...result,
    outputFiles: result.outputFiles.map((file) => (file.contents.length > 0 ? { ...file, contents: WRONG } : file)),
  })),
  'action-cache.get.other-file-unasked': misread('getActionResult', (request) =>
    request.inlineOutputFiles.includes('a/one') ? { ...request, inlineOutputFiles: ['a/one', 'a/two'] } : request,
  ),
  'action-cache.get.inline-unknown-path': after('getActionResult', (result, { inlineOutputFiles }) =>
    inlineOutputFiles.every((path) => result.outputFiles.some((file) => file.path === path)) ? result : fail(INVALID)(),
  ),
  'action-cache.get.inline-bounded': after('getActionResult', (result, { inlineOutputFiles }, { store }) => ({
    ...result,
    outputFiles: result.outputFiles.map((file) =>
      file.digest !== undefined && inlineOutputFiles.includes(file.path)
        ? { ...file, contents: store.get(storeKey(file.digest)) ?? file.contents }
        : file,
    ),
  })),
  'action-cache.get.failed-not-served': servesAnyway(({ exitCode }) => exitCode !== 0),
  'action-cache.get.per-instance': servesAnyway(() => true),
} satisfies Partial<Record<BehaviourId, Break>>

export const updateResultBreaks = {
  'action-cache.update.stores': when(
    'updateActionResult',
    ({ actionResult }) => actionResult?.stdoutDigest !== undefined && actionResult.outputFiles.length === 0,
    ({ actionResult }) => actionResult ?? ActionResult.fromPartial({}),
  ),
  'action-cache.update.answers': after('updateActionResult', () => ActionResult.fromPartial({})),
  'action-cache.update.overwrites': (honest) => ({
    updateActionResult(request) {
      try {
        return honest.methods.getActionResult({
          ...request,
          inlineStdout: false,
          inlineStderr: false,
          inlineOutputFiles: [],
        })
      } catch {
        return honest.methods.updateActionResult(request)
      }
    },
  }),
  'action-cache.update.keeps-files': after('getActionResult', (result) => ({
    ...result,
    outputFiles: result.outputFiles.map((file) => ({ ...file, isExecutable: false })),
  })),
  'action-cache.update.keeps-directories': after('getActionResult', (result) => ({
    ...result,
    outputDirectories: result.outputDirectories.map((directory) => ({ ...directory, path: '' })),
  })),
  'action-cache.update.keeps-symlinks': after('getActionResult', (result) => ({ ...result, outputSymlinks: [] })),
  'action-cache.update.keeps-metadata': after('getActionResult', (result) => ({
    ...result,
    executionMetadata: undefined,
  })),
  'action-cache.update.missing-action': when(
    'updateActionResult',
    ({ actionDigest }, { store }) => actionDigest?.hash.length === 64 && !store.has(storeKey(actionDigest)),
    fail(STATUS.internal),
  ),
  'action-cache.update.malformed-digest': when(
    'updateActionResult',
    ({ actionDigest }) => actionDigest?.hash.length === 63,
    ({ actionResult }) => actionResult ?? ActionResult.fromPartial({}),
  ),
  'action-cache.update.no-result': when(
    'updateActionResult',
    ({ actionResult }) => actionResult === undefined,
    () => ActionResult.fromPartial({}),
  ),
  'action-cache.update.denied': when(
    'updateActionResult',
    () => true,
    ({ actionResult }) => actionResult ?? ActionResult.fromPartial({}),
  ),
} satisfies Partial<Record<BehaviourId, Break>>
