/** How a blob's bytes travel. The order is that of the Remote Execution API's numbers; deflate is the bare RFC 1951. */
export const COMPRESSORS = ['identity', 'zstd', 'deflate', 'brotli'] as const

export type Compressor = (typeof COMPRESSORS)[number]
