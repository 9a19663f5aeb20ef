import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'

/** A file of the page, made at its first request and cached. */
export interface ServedFile {
  readonly type: string
  text(): string
}

interface Made {
  readonly plain: Buffer<ArrayBuffer>
  readonly gzip: Buffer<ArrayBuffer>
  readonly etag: string
}

const smaller = promisify(gzip)

/** Serves these paths and no others: a path of a request never becomes a file name. */
export function servingFiles(files: ReadonlyMap<string, ServedFile>): (c: Context) => Promise<Response> {
  const made = new Map<ServedFile, Promise<Made>>()
  const madeOf = (file: ServedFile): Promise<Made> => {
    const known = made.get(file)
    if (known !== undefined) return known
    const making = make(file)
    made.set(file, making)
    return making
  }
  return async (c) => {
    const file = files.get(c.req.path)
    if (file === undefined) return c.notFound()
    const { plain, gzip: packed, etag } = await madeOf(file)
    // Clients must revalidate, because another version of the server has other modules under the same names.
    const headers = { 'content-type': file.type, etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding' }
    if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers)
    if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return c.body(plain, 200, headers)
    return c.body(packed, 200, { ...headers, 'content-encoding': 'gzip' })
  }
}

async function make(file: ServedFile): Promise<Made> {
  const plain = Buffer.from(file.text())
  const hash = createHash('sha256').update(plain).digest('base64url')
  return { plain, gzip: (await smaller(plain)) as Buffer<ArrayBuffer>, etag: `W/"${hash}"` }
}
