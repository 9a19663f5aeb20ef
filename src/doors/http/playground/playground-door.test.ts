import { gunzipSync } from 'node:zlib'
import { parseSync } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { playgroundDoor } from './playground-door.ts'

const selfTest = { code: 'print("</script>")', stdin: '1', stdout: '' }
const door = () => {
  let nonces = 0
  return playgroundDoor({ languages: [{ name: 'python', selfTest }], newNonce: () => `nonce${nonces++}` })
}

async function mapped(): Promise<{ imports: Record<string, string>; entry: string }> {
  const html = await (await door().request('/play')).text()
  const [, map = ''] = /<script type="importmap"[^>]*>(.*?)<\/script>/.exec(html) ?? []
  const [, entry = ''] = /<script type="module" nonce="[^"]*" src="([^"]*)"/.exec(html) ?? []
  return { ...(JSON.parse(map) as { imports: Record<string, string> }), entry }
}

describe('playground page', () => {
  test('the CSP allows only scripts and styles with a nonce, which is new for each response', async () => {
    const app = door()
    for (const nonce of ['nonce0', 'nonce1']) {
      const response = await app.request('/play')
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain(`default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'`)
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
      expect(policy).not.toMatch(/unsafe|data:|\*|script-src[^;]*'self'/)
      const html = await response.text()
      for (const [tag] of html.matchAll(/<(script|style|link)\b[^>]*>/g)) expect(tag).toContain(`nonce="${nonce}"`)
      expect(html).not.toMatch(/\son\w+=|\sstyle=|https?:\/\//)
    }
  })

  test('every import of its modules is served by this server', async () => {
    const app = door()
    const { imports, entry } = await mapped()
    const seen = new Set<string>()
    const visit = async (path: string): Promise<void> => {
      if (seen.has(path)) return
      seen.add(path)
      const response = await app.request(path)
      expect([path, response.status]).toEqual([path, 200])
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
      const text = await response.text()
      const { module, errors } = parseSync(`${path}.js`, text, { sourceType: 'module', lang: 'js' })
      expect(errors).toEqual([])
      const names = [
        ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
        ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
      ]
      for (const name of names) await visit(imports[name] ?? new URL(name, `http://x${path}`).pathname)
    }
    await visit(entry)
    expect(seen.size).toBeGreaterThan(25)
  })

  test('templates.json has the code and stdin of each language', async () => {
    const response = await door().request('/play/templates.json')
    expect(await response.json()).toEqual({ python: { code: selfTest.code, stdin: '1' } })
  })
})

describe('playground files', () => {
  test.each([
    '/play/page/..%2fplayground-door.ts',
    '/play/page/tsconfig.json',
    '/play/page/',
    '/play/lib/hono.js',
    '/play/lib/@codemirror/view',
    '/play/lib/%2e%2e/%2e%2e/package.json',
    '/play/page/nothing.ts',
    '/play/constructor',
  ])('%s is 404', async (path) => {
    expect((await door().request(path)).status).toBe(404)
  })

  test('a file is sent as gzip when accepted, and 304 answers a matching ETag', async () => {
    const app = door()
    const { entry } = await mapped()
    const plain = await app.request(entry)
    const etag = plain.headers.get('etag') ?? ''
    const packed = await app.request(entry, { headers: { 'accept-encoding': 'gzip, br' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(await plain.text())
    const known = await app.request(entry, { headers: { 'if-none-match': etag } })
    expect([known.status, await known.text()]).toEqual([304, ''])
  })
})
