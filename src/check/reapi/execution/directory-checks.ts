import {
  Directory,
  type DirectoryNode,
  Tree,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, NotOffered, same, Unmet } from '../../unmet.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { findOutputDirectory, read, treeIn } from './read-result.ts'

const TREE_OF_THREE = `
mkdir -p out/a/deep out/b/deep out/none
printf 1 > out/top; printf 2 > out/a/deep/leaf; printf 2 > out/b/deep/leaf; printf 3 > out/a/own
ln -s own out/a/link`

const DIRECTORY_ONLY = 1
const TREE_AND_DIRECTORY = 2
const MOST_DIRECTORIES = 1000
const TREES_ONLY = 'the server returns only Trees'

const made = async ({ executions }: Probe, format: 0 | 1 | 2 = 0) =>
  (await executions.run({ script: TREE_OF_THREE, command: { outputPaths: ['out'], outputDirectoryFormat: format } }))
    .result

const hashOf = ({ fn }: Probe, directory: Directory): string => fn.hash(Directory.encode(directory).finish())

/** All paths of a tree: files with their size, links with their target, directories with a slash. */
function pathsOf(probe: Probe, { root, children }: Tree): string[] {
  if (root === undefined) throw new Unmet('a root', 'none')
  const byHash = new Map(children.map((child) => [hashOf(probe, child), child]))
  let walked = 0
  const walk = ({ files, directories, symlinks }: Directory, at: string): string[] => [
    ...files.map(({ name, digest }) => `${at}${name} ${digest?.sizeBytes}`),
    ...symlinks.map(({ name, target }) => `${at}${name} -> ${target}`),
    ...directories.flatMap(({ name, digest }) => {
      const child = byHash.get(digest?.hash ?? '')
      if (child === undefined) throw new Unmet(`the directory ${at}${name} among the children`, 'it is missing')
      // Children that reference each other many times would make this walk endless.
      if (++walked > MOST_DIRECTORIES) throw new Unmet('the directories that the command created', 'more than 1000')
      return [`${at}${name}/`, ...walk(child, `${at}${name}/`)]
    }),
  ]
  return walk(root, '').sort()
}

const EXPECTED = [
  'a/',
  'a/deep/',
  'a/deep/leaf 1',
  'a/link -> own',
  'a/own 1',
  'b/',
  'b/deep/',
  'b/deep/leaf 1',
  'none/',
  'top 1',
]

/** Reads everything below from the CAS, one Directory at a time. */
async function count(probe: Probe, digest: DirectoryNode['digest']): Promise<number> {
  if (digest === undefined) throw new Unmet('a digest', 'none')
  const { directories } = Directory.decode(await read(probe, digest))
  let below = 1
  for (const child of directories) below += await count(probe, child.digest)
  return below
}

/** An encoded Tree that claims to be sorted. */
async function sortedBytes(probe: Probe): Promise<Uint8Array> {
  const { isTopologicallySorted, treeDigest } = findOutputDirectory(await made(probe), 'out')
  if (!isTopologicallySorted || treeDigest === undefined) throw new NotOffered('the server returns no sorted Tree')
  return read(probe, treeDigest)
}

const sorted = async (probe: Probe): Promise<Tree> => Tree.decode(await sortedBytes(probe))

/** The protobuf field tags in order, up to the first that cannot be decoded. */
function tagsOf(bytes: Uint8Array): string {
  const tags: string[] = []
  for (let at = 0; at < bytes.length; ) {
    tags.push(`0x${(bytes[at++] ?? 0).toString(16).padStart(2, '0')}`)
    let size = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++] ?? 0
      size |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    at += size
  }
  return tags.join(' ')
}

export const directoryChecks = {
  async 'outputs.directory'(probe) {
    same('paths', pathsOf(probe, await treeIn(probe, await made(probe), 'out')).join(', '), EXPECTED.join(', '))
  },
  async 'outputs.empty-path'(probe) {
    const script = 'mkdir -p d; printf x > d/f'
    const { result } = await probe.executions.run({ script, command: { outputPaths: [''] } })
    const paths = pathsOf(probe, await treeIn(probe, result, ''))
    same('paths', paths.join(', '), 'd/, d/f 1')
  },
  async 'outputs.tree-in-cas'(probe) {
    const word = probe.random.word()
    const script = `mkdir -p out/d; printf ${word} > out/d/f`
    const { result } = await probe.executions.run({ script, command: { outputPaths: ['out'] } })
    const { children } = await treeIn(probe, result, 'out')
    const digest = children[0]?.files[0]?.digest
    if (digest === undefined) throw new Unmet('a file in a child', 'none')
    ensure(!(await probe.isMissing(digest)), 'the file in the CAS', 'it is missing')
    same('content', Buffer.from(await read(probe, digest)).toString(), word)
  },
  async 'outputs.tree-links'(probe) {
    const paths = pathsOf(probe, await treeIn(probe, await made(probe), 'out'))
    ensure(paths.includes('a/link -> own'), 'a/link -> own', paths.join(', '))
  },
  async 'outputs.tree-empty'(probe) {
    const paths = pathsOf(probe, await treeIn(probe, await made(probe), 'out'))
    ensure(paths.includes('none/'), 'none/', paths.join(', '))
  },
  async 'outputs.tree-stable'(probe) {
    const [one, other] = [await made(probe), await made(probe)]
    const hash = (result: typeof one) => findOutputDirectory(result, 'out').treeDigest?.hash ?? 'none'
    same('tree', hash(one), hash(other))
  },
  async 'outputs.tree-once'(probe) {
    const hashes = (await sorted(probe)).children.map((child) => hashOf(probe, child))
    same('children twice:', hashes.length - new Set(hashes).size, 0)
  },
  async 'outputs.tree-sorted'(probe) {
    const { root, children } = await sorted(probe)
    const named = new Set(root?.directories.map(({ digest }) => digest?.hash))
    for (const child of children) {
      ensure(named.has(hashOf(probe, child)), 'a parent before each child', 'a child before its parents')
      for (const { digest } of child.directories) named.add(digest?.hash)
    }
  },
  async 'outputs.tree-records'(probe) {
    const bytes = await sortedBytes(probe)
    const children = Tree.decode(bytes).children.length
    same('tags', tagsOf(bytes), ['0x0a', ...Array.from({ length: children }, () => '0x12')].join(' '))
  },
  async 'outputs.directory-only'(probe) {
    const { rootDirectoryDigest, treeDigest } = findOutputDirectory(await made(probe, DIRECTORY_ONLY), 'out')
    // A worker that does not know the field returns a Tree.
    if (rootDirectoryDigest === undefined && treeDigest !== undefined) throw new NotOffered(TREES_ONLY)
    ensure(rootDirectoryDigest !== undefined, 'a root_directory_digest', 'none')
    same('directories', await count(probe, rootDirectoryDigest), 6)
  },
  async 'outputs.tree-and-directory'(probe) {
    const result = await made(probe, TREE_AND_DIRECTORY)
    const { rootDirectoryDigest } = findOutputDirectory(result, 'out')
    if (rootDirectoryDigest === undefined) throw new NotOffered(TREES_ONLY)
    const { root } = await treeIn(probe, result, 'out')
    if (root === undefined) throw new Unmet('a root', 'none')
    same('root', rootDirectoryDigest.hash, hashOf(probe, root))
  },
} satisfies Partial<Record<ExecutionId, Check>>
