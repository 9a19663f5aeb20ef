import { expect, test } from 'vitest'
import { turnsDuring } from '../../testing/turns-during.ts'
import type { DirectoryValue } from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import { ListedEntries, withListing } from './load-contents.ts'

/** Each directory contains two others, down to this depth. */
const doubling = (levels: number): Files => ({
  stat: async () => ({ class: 'Directory' }),
  read: async () => new Uint8Array(),
  list: async (location) =>
    location.split('/').length > levels
      ? []
      : ['a', 'b'].map((basename) => ({ class: 'Directory', basename, location: `${location}/${basename}` })),
})
const directory = { class: 'Directory', location: 'root', basename: 'root' } as DirectoryValue

test('a listing above 250,000 entries is refused, and other work runs meanwhile', async () => {
  const refused = withListing(directory, { files: doubling(60), listing: 'deep_listing' })
  refused.catch(() => {})
  await expect(turnsDuring(refused.catch(() => {}))).resolves.toBeGreaterThan(5000)
  await expect(refused).rejects.toThrow('more than 250000 entries: set loadListing')
})

test('the entries of all listings of one step are counted together', async () => {
  const options = { files: doubling(16), listing: 'deep_listing', count: new ListedEntries() } as const
  expect((await withListing(directory, options)).listing).toHaveLength(2)
  await expect(withListing(directory, options)).rejects.toThrow('more than 250000 entries')
})
