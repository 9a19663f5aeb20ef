import { STATUS } from '../../../../grpc/status.ts'
import {
  type ActionResult,
  type OutputDirectory,
  type OutputFile,
  type OutputSymlink,
  Tree,
} from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { ExecutionId } from '../../table/behaviours.ts'
import {
  changingAction,
  changingCommand,
  changingResponse,
  changingResult,
  changingRoot,
  type Detour,
  executing,
  fails,
  wrapped,
} from './detour.ts'

const NOWHERE = { name: 'PATH', value: '/nowhere' }

const blaming = changingResponse((response) =>
  response.result?.exitCode === 0
    ? response
    : { ...response, status: { code: STATUS.unavailable, message: 'try again', details: [] } },
)

export const commandBreaks = {
  'command.arguments': changingCommand(({ arguments: argv }) => ({ arguments: argv.filter((each) => each !== '') })),
  'command.environment': changingCommand(({ environmentVariables }) => ({
    environmentVariables: environmentVariables.filter(({ value }) => value !== ''),
  })),
  'command.no-environment': changingAction(({ command }) =>
    command.environmentVariables.length === 0 ? fails(STATUS.invalidArgument) : {},
  ),
  'command.stdin': wrapped('echo something | "$@"'),
  'command.relative-program': changingCommand(({ arguments: [program = '', ...rest] }) => ({
    arguments: [program.replace(/^\.\//, '../'), ...rest],
  })),
  'command.path-program': changingCommand(({ arguments: [program] }) =>
    program === 'sh' ? { environmentVariables: [NOWHERE] } : {},
  ),
  'command.no-program': blaming,
  'command.working-directory': changingCommand(() => ({ workingDirectory: '' })),
  'command.no-working-directory': changingCommand(() => ({ workingDirectory: '' })),
  'command.platform-of-action': changingAction(({ action, command }) => ({
    action: { ...action, platform: command.platform },
  })),
  'command.platform-of-command': changingCommand(() => ({ platform: undefined })),
} satisfies Partial<Record<ExecutionId, Detour>>

const withoutProperties = changingRoot(({ files }) => ({
  files: files.map((file) => ({ ...file, nodeProperties: undefined })),
}))

const executable = (isExecutable: boolean): Detour =>
  changingRoot(({ files }) => ({ files: files.map((file) => ({ ...file, isExecutable })) }))

export const inputBreaks = {
  'inputs.files': changingRoot(() => ({ directories: [] })),
  'inputs.empty-file': changingRoot(({ files }) =>
    files.some(({ digest }) => digest?.sizeBytes === 0) ? fails(STATUS.failedPrecondition) : {},
  ),
  'inputs.executable': executable(false),
  'inputs.not-executable': executable(true),
  'inputs.symlinks': changingRoot(() => ({ symlinks: [] })),
  'inputs.dangling': changingRoot(({ symlinks }) => ({
    symlinks: symlinks.map((link) => ({ ...link, target: '.' })),
  })),
  'inputs.empty-directory': changingRoot(() => ({ directories: [] })),
  'inputs.absolute-link': changingRoot(({ symlinks }) => ({
    symlinks: symlinks.filter(({ target }) => !target.startsWith('/')),
  })),
  'inputs.unix-mode': withoutProperties,
  'inputs.mtime': withoutProperties,
} satisfies Partial<Record<ExecutionId, Detour>>

const filing = (change: (file: OutputFile) => Partial<OutputFile>): Detour =>
  changingResult(({ outputFiles }) => ({ outputFiles: outputFiles.map((file) => ({ ...file, ...change(file) })) }))

const adding = (path: string): Detour =>
  changingResult(({ outputFiles }) => ({
    outputFiles: [...outputFiles, ...outputFiles.slice(0, 1).map((file) => ({ ...file, path }))],
  }))

const linking = (change: (link: OutputSymlink) => Partial<OutputSymlink>): Detour =>
  changingResult(({ outputSymlinks }) => ({
    outputSymlinks: outputSymlinks.map((link) => ({ ...link, ...change(link) })),
  }))

/** Returns no outputs. */
const losing: Detour = ({ methods }) => ({
  findMissingBlobs: async (request) => ({
    ...(await methods.findMissingBlobs(request)),
    missingBlobDigests: request.blobDigests,
  }),
})

/** Returns Trees in a wrong order, or with additional entries. */
const planting = (change: (tree: Tree) => Uint8Array): Detour =>
  executing(async function* (request, call, { methods, blob, store }) {
    const replanted = async (directory: OutputDirectory): Promise<OutputDirectory> => {
      const tree = change(Tree.decode(await blob(directory.treeDigest)))
      return { ...directory, treeDigest: await store(tree) }
    }
    for await (const message of methods.execute(request, call)) {
      const { response } = message
      if (response?.result === undefined) yield message
      else {
        const outputDirectories = await Promise.all(response.result.outputDirectories.map(replanted))
        const result: ActionResult = { ...response.result, outputDirectories }
        yield { ...message, response: { ...response, result } }
      }
    }
  })

const directing = (change: (directory: OutputDirectory) => Partial<OutputDirectory>): Detour =>
  changingResult(({ outputDirectories }) => ({
    outputDirectories: outputDirectories.map((each) => ({ ...each, ...change(each) })),
  }))

const treeBytes = (tree: Tree): Uint8Array => Tree.encode(tree).finish()

/** Changes the outputs before they are collected. */
const afterwards = (script: string): Detour => wrapped(`"$@"; [ ! -d out ] || ${script}`)

export const outputBreaks = {
  'outputs.files': filing(({ path }) => ({ path: `./${path}` })),
  'outputs.in-cas': losing,
  'outputs.executable': filing(() => ({ isExecutable: true })),
  'outputs.parents': wrapped('rmdir a/b a; exec "$@"'),
  'outputs.not-made': wrapped('printf x > a/out; exec "$@"'),
  'outputs.missing': adding('not-made'),
  'outputs.undeclared': adding('other'),
  'outputs.relative': filing(({ path }) => ({ path: `sub/${path}` })),
  'outputs.paths-first': changingCommand(({ outputPaths, outputFiles }) => ({
    outputPaths: [...outputPaths, ...outputFiles].sort(),
  })),
  'outputs.legacy-files': changingCommand(() => ({ outputFiles: [] })),
  'outputs.legacy-directories': changingCommand(() => ({ outputDirectories: [] })),
  'outputs.legacy-mismatch': changingCommand(({ outputFiles }) => ({ outputPaths: outputFiles })),
  'outputs.links': changingResult(() => ({ outputSymlinks: [] })),
  'outputs.dangling': linking(() => ({ target: '' })),
  'outputs.legacy-links': changingResult(() => ({ outputFileSymlinks: [] })),
  'outputs.legacy-directory-links': changingResult(() => ({ outputDirectorySymlinks: [] })),
  'outputs.absolute-link': linking(({ target }) => ({ target: target.replace(/^\//, '') })),
  'outputs.unix-mode': filing(() => ({ nodeProperties: undefined })),
  'outputs.mtime': filing(() => ({ nodeProperties: undefined })),
  'outputs.unknown-property': changingCommand(() => ({ outputNodeProperties: [] })),
  'outputs.directory': afterwards('rm out/top'),
  'outputs.empty-path': changingCommand(({ outputPaths }) => ({
    outputPaths: outputPaths.filter((path) => path !== ''),
  })),
  'outputs.tree-in-cas': losing,
  'outputs.tree-links': afterwards('rm out/a/link'),
  'outputs.tree-empty': afterwards('rmdir out/none'),
  'outputs.tree-stable': afterwards('od -An -N8 -tx1 /dev/urandom > out/more'),
  'outputs.tree-once': planting(({ root, children }) => treeBytes({ root, children: [...children, ...children] })),
  'outputs.tree-sorted': planting(({ root, children }) => treeBytes({ root, children: children.toReversed() })),
  'outputs.tree-records': planting(({ root, children }) =>
    Buffer.concat([treeBytes({ root: undefined, children }), treeBytes({ root, children: [] })]),
  ),
  'outputs.directory-only': directing(() => ({ rootDirectoryDigest: undefined, treeDigest: undefined })),
  'outputs.tree-and-directory': directing(({ treeDigest }) => ({ rootDirectoryDigest: treeDigest })),
} satisfies Partial<Record<ExecutionId, Detour>>
