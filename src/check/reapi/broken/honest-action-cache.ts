import { GrpcError, STATUS } from '../../../grpc/status.ts'
import {
  type ActionResult,
  type Digest,
  type Directory,
  type GetActionResultRequest,
  Tree,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { resultProblems } from './honest-results.ts'
import type { Methods } from './methods.ts'
import type { Profile } from './profile.ts'
import { invalidArgument, notFound, type Store, storeKey } from './store.ts'

type ActionCacheMethods = Pick<Methods, 'getActionResult' | 'updateActionResult'>

const INLINE_BYTES = 1024 * 1024

const filesIn = ({ files }: Directory): Digest[] => files.flatMap(({ digest }) => digest ?? [])

/** Everything that a result refers to, the files of its output directories included. */
function references(store: Store, result: ActionResult, digestFunction: number): Digest[] {
  const { stdoutDigest, stderrDigest, outputFiles, outputDirectories } = result
  const trees = outputDirectories.flatMap(({ treeDigest }) => treeDigest ?? [])
  const inTrees = trees.flatMap((digest) => {
    const bytes = store.get(storeKey(digest, digestFunction))
    const { root, children } = Tree.decode(bytes ?? new Uint8Array())
    return [...(root === undefined ? [] : filesIn(root)), ...children.flatMap(filesIn)]
  })
  const plain = [stdoutDigest, stderrDigest, ...outputFiles.map(({ digest }) => digest)]
  return [...plain.filter((digest) => digest !== undefined), ...trees, ...inTrees]
}

/** Inlines the requested outputs up to the size limit. */
function inlining(store: Store, request: GetActionResultRequest, result: ActionResult): ActionResult {
  let room = INLINE_BYTES
  const content = (digest: Digest | undefined, isWanted: boolean): Uint8Array => {
    const bytes = isWanted && digest !== undefined ? store.get(storeKey(digest, request.digestFunction)) : undefined
    if (bytes === undefined || bytes.length > room) return new Uint8Array()
    room -= bytes.length
    return bytes
  }
  return {
    ...result,
    stdoutRaw: content(result.stdoutDigest, request.inlineStdout),
    stderrRaw: content(result.stderrDigest, request.inlineStderr),
    outputFiles: result.outputFiles.map((file) => ({
      ...file,
      contents: content(file.digest, request.inlineOutputFiles.includes(file.path)),
    })),
  }
}

export function honestActionCache(store: Store, { update }: Profile): ActionCacheMethods {
  const results = new Map<string, ActionResult>()
  return {
    getActionResult(request) {
      const { instanceName, actionDigest, digestFunction } = request
      const key = storeKey(actionDigest, digestFunction)
      const result = results.get(`${instanceName}:${key.text}`)
      if (result === undefined) throw notFound(key.text)
      const gone = references(store, result, digestFunction).find(
        (digest) => !store.has(storeKey(digest, digestFunction)),
      )
      if (gone !== undefined) throw notFound(`${gone.hash}, which the result refers to`)
      return inlining(store, request, result)
    },
    updateActionResult({ instanceName, actionDigest, actionResult, digestFunction }) {
      if (!update) throw new GrpcError(STATUS.permissionDenied, 'read only')
      const key = storeKey(actionDigest, digestFunction)
      if (actionResult === undefined) throw invalidArgument('no result')
      const [problem] = resultProblems(actionResult, store)
      if (problem !== undefined) throw invalidArgument(problem)
      if (actionResult.exitCode === 0) results.set(`${instanceName}:${key.text}`, actionResult)
      return actionResult
    },
  }
}
