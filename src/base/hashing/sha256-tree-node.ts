/**
 * How SHA256TREE joins two hashes: they are the 64-byte message of one run of SHA-256's block cipher, which starts from
 * other values than SHA-256 does and does not add them again at the end. OpenSSL offers no way to run the cipher
 * alone, so it is written out here (FIPS 180-4, 6.2.2, steps 1 to 3).
 */
const START = Int32Array.of(
  0xcbbb9d5d,
  0x629a292a,
  0x9159015a,
  0x152fecd8,
  0x67332667,
  0x8eb44a87,
  0xdb0c2e0d,
  0x47b5481d,
)

const ROUNDS = 64
const ROUND_CONSTANTS = cubeRootFractions(ROUNDS)
const schedule = new Int32Array(ROUNDS)

/** Replaces the two hashes at `at` (8 words each) by the one that joins them. */
export function joinHashes(words: Int32Array, at: number): void {
  expand(words, at)
  let a = START[0] as number
  let b = START[1] as number
  let c = START[2] as number
  let d = START[3] as number
  let e = START[4] as number
  let f = START[5] as number
  let g = START[6] as number
  let h = START[7] as number
  for (let round = 0; round < ROUNDS; round += 1) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const choice = g ^ (e & (f ^ g))
    const t1 = (h + sum1 + choice + (ROUND_CONSTANTS[round] as number) + (schedule[round] as number)) | 0
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const majority = (a & b) | (c & (a | b))
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + sum0 + majority) | 0
  }
  words[at] = a
  words[at + 1] = b
  words[at + 2] = c
  words[at + 3] = d
  words[at + 4] = e
  words[at + 5] = f
  words[at + 6] = g
  words[at + 7] = h
}

function expand(words: Int32Array, at: number): void {
  for (let i = 0; i < 16; i += 1) schedule[i] = words[at + i] as number
  for (let i = 16; i < ROUNDS; i += 1) {
    const near = schedule[i - 2] as number
    const far = schedule[i - 15] as number
    const sigma1 = ((near >>> 17) | (near << 15)) ^ ((near >>> 19) | (near << 13)) ^ (near >>> 10)
    const sigma0 = ((far >>> 7) | (far << 25)) ^ ((far >>> 18) | (far << 14)) ^ (far >>> 3)
    schedule[i] = (sigma1 + (schedule[i - 7] as number) + sigma0 + (schedule[i - 16] as number)) | 0
  }
}

/** The first 32 bits behind the point of the cube roots of the first primes, which is how SHA-256 defines them. */
function cubeRootFractions(count: number): Int32Array {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return Int32Array.from(primes, (prime) => (Math.cbrt(prime) % 1) * 2 ** 32)
}
