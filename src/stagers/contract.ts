import { describe, expect, test } from 'vitest'
import type { Stager } from './stager.ts'
import type { TreeStore } from './tree-store.ts'
import { directoryOf } from './trees.fixture.ts'

/** A new stager over an empty store, and a destination to which it can put data. */
export interface StagerUnderTest {
  readonly stager: Stager
  readonly trees: TreeStore
  readonly to: string
}

/** The behaviour that every stager has, whatever its scheme. */
export function stagerContract(name: string, open: () => Promise<StagerUnderTest>): void {
  const withTree = async () => {
    const { stager, trees, to } = await open()
    const blob = await trees.put(Buffer.from('data'))
    const below = await trees.putDirectory(
      directoryOf({ files: [{ name: 'x', digest: blob, executable: true, properties: undefined }] }),
    )
    const root = await trees.putDirectory(directoryOf({ directories: [{ name: 'a b', digest: below }] }))
    return { stager, trees, to, blob, below, root }
  }

  describe(`${name}: stager contract`, () => {
    test.each([false, true])('a file that was put is found (executable: %s)', async (executable) => {
      const { stager, trees, to, blob } = await withTree()
      const location = await stager.put({ kind: 'file', digest: blob, executable }, to)
      expect(await stager.find(location)).toEqual({ kind: 'file', digest: blob, executable })
      expect(await trees.has(blob)).toBe(true)
    })

    test('a directory that was put is found, and so are its entries', async () => {
      const { stager, to, blob, below, root } = await withTree()
      const location = await stager.put({ kind: 'directory', digest: root }, to)
      expect(await stager.find(location)).toEqual({ kind: 'directory', digest: root })
      expect(await stager.find(`${location}/a%20b`)).toEqual({ kind: 'directory', digest: below })
      expect(await stager.find(`${location}/a%20b/x`)).toEqual({ kind: 'file', digest: blob, executable: true })
    })

    test('nothing is found below a file, outside a directory, or under an unknown name', async () => {
      const { stager, to, blob, root } = await withTree()
      const directory = await stager.put({ kind: 'directory', digest: root }, to)
      const file = await stager.put({ kind: 'file', digest: blob, executable: false }, to)
      for (const location of [
        `${directory}/c`,
        `${directory}/a%20b/x/y`,
        `${directory}/a%20b/../a%20b`,
        `${directory}/a%20b%2Fx`,
        `${file}/x`,
      ])
        expect(await stager.find(location), location).toBeUndefined()
    })

    test('at a location of an unknown scheme nothing is found, and put is invalid', async () => {
      const { stager, blob } = await withTree()
      for (const location of ['', 'x', '/etc/passwd', 'no-such-scheme:x', '__proto__:x']) {
        expect(await stager.find(location), location).toBeUndefined()
        expect(stager.named(location), location).toBeUndefined()
        await expect(stager.put({ kind: 'file', digest: blob, executable: false }, location)).rejects.toMatchObject({
          fault: { kind: 'invalid' },
        })
      }
    })

    test('named returns no digest or the digest that was put', async () => {
      const { stager, to, root } = await withTree()
      const location = await stager.put({ kind: 'directory', digest: root }, to)
      expect([undefined, { kind: 'directory', digest: root }]).toContainEqual(stager.named(location))
      expect(stager.named(`${location}/a%20b`)).toEqual(stager.named(location))
    })
  })
}
