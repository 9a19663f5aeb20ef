import { describe, expect, test } from 'vitest'
import { STATUS } from '../../../grpc/status.ts'
import { put as putAll } from '../../../storage/blobs.fixture.ts'
import { flatTree, type MadeDirectory } from '../../../testing/large-trees.ts'
import { turnsDuring } from '../../../testing/turns-during.ts'
import { encoded, nameOf, testDoor } from './door.fixture.ts'

const GET_TREE = 'ContentAddressableStorage.GetTree'

/** A directory with these children, and a symlink that makes it unique. */
const directory = (name: string, children: readonly Uint8Array[] = []): Uint8Array =>
  encoded('Directory', {
    directories: children.map((child, index) => ({ name: `d${index}`, digest: nameOf(child) })),
    symlinks: [{ name, target: 'x' }],
  })

interface Page {
  directories?: { symlinks: { name: string }[] }[]
  nextPageToken?: string
}

const namesIn = (pages: readonly Page[]): string[] =>
  pages.flatMap(({ directories = [] }) => directories.map(({ symlinks }) => symlinks[0]?.name ?? ''))

const c = directory('c')
const a = directory('a', [c])
const b = directory('b', [c, a])
const root = directory('root', [a, b])

describe('GetTree', () => {
  test('each directory is sent once, parents before children', async () => {
    const { put, answers } = testDoor()
    await put(root, a, b, c)
    expect(namesIn(await answers<Page>(GET_TREE, { rootDigest: nameOf(root) }))).toEqual(['root', 'a', 'b', 'c'])
  })

  test('pages have the requested size, and each has the token of the next', async () => {
    const { put, answers } = testDoor()
    await put(root, a, b, c)
    const pages = await answers<Page>(GET_TREE, { rootDigest: nameOf(root), pageSize: 3 })
    expect(pages.map((page) => namesIn([page]))).toEqual([['root', 'a', 'b'], ['c']])
    expect(pages.map(({ nextPageToken }) => nextPageToken)).toEqual(['3', undefined])
    const rest = { rootDigest: nameOf(root), pageSize: 1, pageToken: '2' }
    expect(namesIn(await answers<Page>(GET_TREE, rest))).toEqual(['b', 'c'])
    expect(namesIn(await answers<Page>(GET_TREE, { ...rest, pageToken: '99' }))).toEqual([])
  })

  test('a new message begins before one exceeds the message limit', async () => {
    const { put, answers } = testDoor()
    const long = Array.from({ length: 50 }, (_, i) => directory(`${i} ${'x'.repeat(60_000)}`))
    const wide = directory('wide', long)
    await put(wide, ...long)
    const pages = await answers<Page>(GET_TREE, { rootDigest: nameOf(wide) })
    expect(pages.length).toBe(2)
    expect(namesIn(pages)).toHaveLength(51)
  })

  test('a missing directory is omitted, with the directories only below it', async () => {
    const { put, answers } = testDoor()
    await put(root, b, c)
    expect(namesIn(await answers<Page>(GET_TREE, { rootDigest: nameOf(root) }))).toEqual(['root', 'b', 'c'])
  })

  test('a missing root is NOT_FOUND; a root that is no Directory and an invalid token are INVALID_ARGUMENT', async () => {
    const { put, answers } = testDoor()
    const noDirectory = Buffer.from([0xff, 0xff, 0xff])
    await put(root, noDirectory)
    const asked = (request: Record<string, unknown>) => answers(GET_TREE, request as never)
    await expect(asked({ rootDigest: nameOf(a) })).rejects.toMatchObject({ code: STATUS.notFound })
    await expect(asked({ rootDigest: nameOf(noDirectory) })).rejects.toMatchObject({ code: STATUS.invalidArgument })
    for (const pageToken of ['0', '-1', '1e3', 'next', '9'.repeat(20)]) {
      const call = asked({ rootDigest: nameOf(root), pageToken })
      await expect(call, pageToken).rejects.toMatchObject({ code: STATUS.invalidArgument })
    }
    await expect(asked({})).rejects.toMatchObject({ code: STATUS.invalidArgument })
  })

  test('other calls run after each 256 directories, and after each 1,024 names in one directory', async () => {
    const { instance, answers } = testDoor()
    const tree = flatTree(20_000)
    await putAll(instance.blobs, ...tree.map(({ bytes }) => bytes))
    const { bytes } = tree.at(-1) as MadeDirectory
    const turns = await turnsDuring(answers(GET_TREE, { rootDigest: nameOf(bytes) }))
    expect(turns).toBeGreaterThan(20_000 / 256 + 20_000 / 1024 - 2)
  })
})
