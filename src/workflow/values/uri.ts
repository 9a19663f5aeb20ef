const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/

/** RFC 3986 reads `a:` as a scheme, but users mean a file when they write `a:b.txt`. */
const KNOWN_SCHEME = /^(file|https?|s3|gs|ftp|shock|ws|cas|data|keep|arvwf|synapse|urn|_|windlass)[:]/i

export const hasScheme = (reference: string): boolean =>
  KNOWN_SCHEME.test(reference) || /^[a-z][\w+.-]*:\/\//i.test(reference)

export const documentOf = (uri: string): string => {
  const hash = uri.indexOf('#')
  return hash < 0 ? uri : uri.slice(0, hash)
}

export const uriFragment = (uri: string): string | undefined => {
  const hash = uri.indexOf('#')
  return hash < 0 ? undefined : uri.slice(hash + 1)
}

/** Resolves a reference as RFC 3986 does, without rewriting escapes: `%23` must stay `%23`. */
export function resolveUri(base: string, reference: string): string {
  if (hasScheme(reference)) return reference
  const origin = documentOf(base)
  if (reference === '') return origin
  if (reference.startsWith('#')) return origin + reference
  const start = /^([a-zA-Z][\w+.-]*:(?:\/\/[^/?#]*)?)?(.*)$/s.exec(origin)
  const root = start?.[1] ?? ''
  const path = start?.[2] ?? ''
  if (reference.startsWith('//')) return `${SCHEME.exec(root)?.[0] ?? ''}${reference}`
  const [target = '', ...rest] = reference.split(/(?=[?#])/)
  const merged = target.startsWith('/') ? target : path.slice(0, path.lastIndexOf('/') + 1) + target
  return root + withoutDots(merged) + rest.join('')
}

function withoutDots(path: string): string {
  const kept: string[] = []
  const parts = path.split('/')
  parts.forEach((part, index) => {
    const last = index === parts.length - 1
    if (part === '..') {
      if (kept.length > 1 || (kept.length === 1 && kept[0] !== '')) kept.pop()
      if (last) kept.push('')
    } else if (part !== '.') kept.push(part)
    else if (last) kept.push('')
  })
  return kept.join('/')
}

/** The short name of an id: the part after the last `/`, or after the `#` if there is none. */
export function shortName(id: string): string {
  const fragment = uriFragment(id) ?? id
  return fragment.slice(fragment.lastIndexOf('/') + 1)
}

/** The name of the file or directory at the end of a location. */
export function basenameOf(location: string): string {
  const path = documentOf(location).replace(/\/+$/, '')
  const name = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** A file system path as part of a URI, with reserved characters escaped. */
export const escapePath = (path: string): string =>
  path
    .split('/')
    .map((part) => encodeURIComponent(part))
    .join('/')
