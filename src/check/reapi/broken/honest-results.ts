import {
  type ActionResult,
  type Digest,
  Directory,
  Tree,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { type Store, storeKey } from './store.ts'

/** The problems of a result, each named by the last segment of the behaviour's id. */
export function resultProblems(result: ActionResult, store: Store): string[] {
  const { outputFiles, outputDirectories, outputSymlinks } = result
  const links = outputSymlinks.map(({ path }) => path)
  const paths = [...outputFiles.map(({ path }) => path), ...links]
  const content = (digest: Digest | undefined, bytes: Uint8Array, problem: string): string[] =>
    digest === undefined || bytes.length === 0 || storeKey(digest).fn.hash(bytes) === digest.hash ? [] : [problem]
  return [
    ...paths.flatMap((path) => pathProblems(path, links.includes(path))),
    ...outputDirectories.filter(({ path }) => path === '..').map(() => 'directory-outside'),
    ...(new Set(paths).size < paths.length ? ['path-twice'] : []),
    ...paths.flatMap((path) => paths.filter((other) => other.startsWith(`${path}/`)).map(() => below(links, path))),
    ...(outputSymlinks.some(({ target }) => target === '') ? ['symlink-target'] : []),
    ...content(result.stdoutDigest, result.stdoutRaw, 'stdout-contradicts'),
    ...content(result.stderrDigest, result.stderrRaw, 'stderr-contradicts'),
    ...outputFiles.flatMap(({ digest, contents }) => content(digest, contents, 'file-contradicts')),
    ...outputDirectories.flatMap(({ treeDigest, isTopologicallySorted }) =>
      treeProblems(treeDigest && store.get(storeKey(treeDigest)), isTopologicallySorted),
    ),
  ]
}

const below = (links: readonly string[], path: string): string =>
  links.includes(path) ? 'path-below-symlink' : 'path-below-file'

function pathProblems(path: string, isLink: boolean): string[] {
  if (path === '') return ['path-empty']
  if (path.startsWith('/')) return ['path-absolute']
  if (path.includes('\0')) return ['path-nul']
  if (!path.split('/').includes('..')) return []
  return [isLink ? 'symlink-outside' : path.startsWith('..') ? 'path-outside' : 'path-detour']
}

function treeProblems(bytes: Uint8Array | undefined, isSorted: boolean): string[] {
  if (bytes === undefined) return []
  const { root, children } = Tree.decode(bytes)
  if (root === undefined) return ['tree-no-root']
  const hashOf = (directory: Directory, { digest }: { digest: Digest | undefined }) =>
    digest && storeKey(digest).fn.hash(Directory.encode(directory).finish())
  const all = [root, ...children]
  const named = all.flatMap((directory, from) => directory.directories.map((node) => ({ node, from })))
  const at = (node: Directory['directories'][number]) =>
    children.findIndex((child) => hashOf(child, node) === node.digest?.hash)
  return [
    ...all.flatMap(nameProblems),
    ...(named.some(({ node }) => at(node) < 0) ? ['tree-absent-child'] : []),
    ...(isSorted && named.some(({ node, from }) => at(node) + 1 <= from) ? ['tree-unsorted'] : []),
  ]
}

function nameProblems({ files, directories, symlinks }: Directory): string[] {
  const names = [...files, ...directories, ...symlinks].map(({ name }) => name)
  return [
    ...(names.includes('') ? ['tree-name-empty'] : []),
    ...(names.some((name) => name.includes('/')) ? ['tree-name-slash'] : []),
    ...(names.some((name) => name.includes('\0')) ? ['tree-name-nul'] : []),
    ...(names.includes('..') ? ['tree-name-dots'] : []),
    ...(new Set(names).size < names.length ? ['tree-name-twice'] : []),
  ]
}
