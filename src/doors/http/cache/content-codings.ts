import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { StoredForm } from '../../../storage/blob-store.ts'

/** Whether zstd is named in Accept-Encoding, and not by a weight of 0. A `*` is no proof that it is understood. */
export function acceptsZstd(header: string | undefined): boolean {
  return (header ?? '').split(',').some((part) => {
    const [coding = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
    return coding === 'zstd' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** The form in which a body comes. */
export function formOfBody(c: Context, takesZstd: boolean): StoredForm {
  const coding = (c.req.header('content-encoding') ?? 'identity').trim().toLowerCase()
  if (coding === 'identity') return 'identity'
  if (coding === 'zstd' && takesZstd) return 'zstd'
  const message = takesZstd
    ? 'A blob comes as it is, or with Content-Encoding: zstd'
    : 'An action result comes as it is, without a Content-Encoding'
  throw new HTTPException(415, { message })
}
