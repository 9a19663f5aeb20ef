import { STATUS } from '../../../grpc/status.ts'
import type {
  DeepPartial,
  Directory,
  GetTreeRequest,
  GetTreeResponse,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, expectRefusal, NotOffered, same } from '../../unmet.ts'
import { encodedDirectory } from '../probe/actions.ts'
import type { Blob } from '../probe/blob.ts'
import { implemented } from '../probe/implemented.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const MiB = 1024 * 1024
/** Larger than the number of pages of any tree in these checks. */
const MOST_REQUESTS = 50

/** A unique directory with these children. */
function directory(
  { blobOf, random, fn }: Probe,
  children: readonly Blob[] = [],
  more: DeepPartial<Directory> = {},
): Blob {
  const directories = children.map(({ digest }, index) => ({ name: `d${index}`, digest }))
  const files = [{ name: random.word(), digest: { hash: 'a'.repeat(fn.hexLength), sizeBytes: 1 } }]
  return blobOf(encodedDirectory({ files, directories, ...more }))
}

/** root → a, b; a → c, d; b → e, f. */
async function sevenDirectories(probe: Probe) {
  const leaves = [directory(probe), directory(probe), directory(probe), directory(probe)]
  const branches = [directory(probe, leaves.slice(0, 2)), directory(probe, leaves.slice(2))]
  const root = directory(probe, branches)
  const all = [root, ...branches, ...leaves]
  await Promise.all(all.map(probe.put))
  return { root, all }
}

const hashesIn = (pages: readonly GetTreeResponse[], { blobOf }: Probe): string[] =>
  pages.flatMap((page) => page.directories.map((each) => blobOf(encodedDirectory(each)).digest.hash))

function sameSet(what: string, seen: readonly string[], expected: readonly Blob[]): void {
  const wanted = new Set(expected.map(({ digest }) => digest.hash))
  const absent = [...wanted].filter((hash) => !seen.includes(hash)).length
  const strange = seen.filter((hash) => !wanted.has(hash)).length
  ensure(absent === 0 && strange === 0, `${what}: ${wanted.size} directories`, `${absent} absent, ${strange} strange`)
}

export const treeChecks = {
  async 'get-tree.implemented'(probe) {
    await implemented(probe.api.getTree(directory(probe).digest))
  },
  async 'get-tree.root'(probe) {
    const root = await probe.put(directory(probe))
    const seen = hashesIn(await wholeTree(probe, root), probe)
    ensure(seen.includes(root.digest.hash), 'the root', `${seen.length} directories without it`)
  },
  async 'get-tree.descendants'(probe) {
    const { root, all } = await sevenDirectories(probe)
    sameSet('the tree', hashesIn(await wholeTree(probe, root), probe), all)
  },
  async 'get-tree.verbatim'(probe) {
    const child = await probe.put(directory(probe))
    const root = await probe.put(
      directory(probe, [child], {
        symlinks: [{ name: 'link', target: '../elsewhere' }],
        nodeProperties: { properties: [{ name: 'colour', value: 'blue' }] },
      }),
    )
    sameSet('the tree', hashesIn(await wholeTree(probe, root), probe), [root, child])
  },
  async 'get-tree.shared-once'(probe) {
    const shared = await probe.put(directory(probe))
    const parents = [directory(probe, [shared]), directory(probe, [shared])]
    const root = directory(probe, parents)
    await Promise.all([...parents, root].map(probe.put))
    const seen = hashesIn(await wholeTree(probe, root), probe)
    same('times:', seen.filter((hash) => hash === shared.digest.hash).length, 1)
  },
  async 'get-tree.missing-child'(probe) {
    const there = await probe.put(directory(probe))
    const root = await probe.put(directory(probe, [directory(probe), there]))
    sameSet('the directories that are stored', hashesIn(await wholeTree(probe, root), probe), [root, there])
  },
  async 'get-tree.missing-root'(probe) {
    await expectRefusal('the call', STATUS.notFound, probe.api.getTree(directory(probe).digest))
  },
  async 'get-tree.deep'(probe) {
    const levels = [directory(probe)]
    for (let level = 1; level < 200; level++) levels.push(directory(probe, levels.slice(-1)))
    await Promise.all(levels.map(probe.put))
    const root = levels.at(-1) as Blob
    sameSet('200 levels', hashesIn(await wholeTree(probe, root), probe), levels)
  },
  async 'get-tree.message-size'(probe) {
    const heavy = Array.from({ length: 12 }, () => directory(probe, [], { symlinks: [bulkyLink(probe)] }))
    const root = directory(probe, heavy)
    await Promise.all([...heavy, root].map(probe.put))
    const pages = await wholeTree(probe, root)
    sameSet('the tree', hashesIn(pages, probe), [root, ...heavy])
    const largest = Math.max(...pages.map((page) => pageBytes(page)))
    ensure(largest < 4 * MiB, `messages below ${4 * MiB} bytes`, `one of ${largest} bytes`)
  },
  async 'get-tree.page-size'(probe) {
    const { root } = await sevenDirectories(probe)
    const pages = await wholeTree(probe, root, { pageSize: 2 })
    const largest = Math.max(...pages.map(({ directories }) => directories.length))
    ensure(largest <= 2, 'pages of 2 directories at most', `one of ${largest}`)
  },
  async 'get-tree.page-token'(probe) {
    const { root, all } = await sevenDirectories(probe)
    const [first] = await probe.api.getTree(root.digest, { pageSize: 2 })
    if (first === undefined || first.nextPageToken === '') throw new NotOffered('the server sends one page only')
    const rest = await wholeTree(probe, root, { pageSize: 2, pageToken: first.nextPageToken })
    const fromStart = hashesIn([first], probe)
    const after = hashesIn(rest, probe)
    sameSet('both together', [...fromStart, ...after], all)
    ensure(!after.some((hash) => fromStart.includes(hash)), 'only pages that follow', 'the first page again')
  },
  async 'get-tree.last-token'(probe) {
    const { root } = await sevenDirectories(probe)
    const pages = await wholeTree(probe, root)
    same('last token', pages.at(-1)?.nextPageToken ?? 'no page', '')
  },
  async 'get-tree.bad-token'(probe) {
    const { root } = await sevenDirectories(probe)
    const call = probe.api.getTree(root.digest, { pageToken: `no-such-page-${probe.random.word()}` })
    await expectRefusal('the call', STATUS.invalidArgument, call)
  },
} satisfies Partial<Record<BehaviourId, Check>>

const bulkyLink = ({ random }: Probe) => ({
  name: 'link',
  target: Buffer.from(random.bytes(MiB / 4)).toString('hex'),
})

const pageBytes = ({ directories }: GetTreeResponse): number =>
  directories.reduce((sum, each) => sum + encodedDirectory(each).length, 0)

/** Repeats the request while the server returns a next-page token. */
async function wholeTree({ api }: Probe, root: Blob, more: Partial<GetTreeRequest> = {}): Promise<GetTreeResponse[]> {
  const pages = await api.getTree(root.digest, more)
  for (let requests = 1; (pages.at(-1)?.nextPageToken ?? '') !== ''; requests++) {
    ensure(requests < MOST_REQUESTS, 'a page without a token at the end', `a token after ${requests} requests`)
    pages.push(...(await api.getTree(root.digest, { ...more, pageToken: pages.at(-1)?.nextPageToken ?? '' })))
  }
  return pages
}
