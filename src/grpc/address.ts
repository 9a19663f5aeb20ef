/** A TCP address or the path of a Unix socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** The text of an address in errors and in the :authority header. */
export const addressName = (address: ListenAddress): string => {
  if ('path' in address) return address.path
  const { host, port } = address
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
