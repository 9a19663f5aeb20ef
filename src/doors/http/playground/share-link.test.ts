import { expect, test } from 'vitest'
import { sharedIn, shareFragment } from './page/share-link.ts'

const packed = async (text: string): Promise<string> => {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return `#v1.${Buffer.from(await new Response(stream).arrayBuffer()).toString('base64url')}`
}

test.each([
  { language: 'python', code: '', stdin: '' },
  { language: 'c++', version: '12.2.0', code: 'int main() {}\n', stdin: 'a\0b' },
  { language: 'bash', code: `echo "ä 日本 🎉 </script>"\n`.repeat(3000), stdin: '\r\n' },
])('a shared program is restored from its link unchanged', async (shared) => {
  const fragment = await shareFragment(shared)
  expect(fragment).toMatch(/^v1\.[\w-]+$/)
  expect(await sharedIn(`#${fragment}`)).toEqual(shared)
})

test('a link to code of 1,000 equal lines is shorter than 300 characters', async () => {
  const code = 'print("the same")\n'.repeat(1000)
  expect((await shareFragment({ language: 'python', code, stdin: '' })).length).toBeLessThan(300)
})

test.each(['', '#', '#v1.', '#v1.!!', '#v1.AAAA', '#v2.abc', '#output', '#v1.%00'])(
  'the fragment "%s" is no link and gives undefined',
  async (fragment) => {
    expect(await sharedIn(fragment)).toBeUndefined()
  },
)

test.each(['null', '[]', '"x"', '{}', '{"language":1,"code":"","stdin":""}', '{"language":"c","code":{},"stdin":""}'])(
  'a link that contains %s gives undefined',
  async (text) => {
    expect(await sharedIn(await packed(text))).toBeUndefined()
  },
)

test('unknown fields of a link are dropped', async () => {
  const told = { language: 'c', code: 'x', stdin: '', run: true, version: 3, __proto__: { a: 1 } }
  expect(await sharedIn(await packed(JSON.stringify(told)))).toEqual({ language: 'c', code: 'x', stdin: '' })
})

test('a link that decompresses to 50 MB gives undefined', async () => {
  const bomb = await packed(JSON.stringify({ language: 'c', code: 'x'.repeat(50_000_000), stdin: '' }))
  expect(bomb.length).toBeLessThan(100_000)
  expect(await sharedIn(bomb)).toBeUndefined()
})
