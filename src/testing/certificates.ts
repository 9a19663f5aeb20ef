import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/**
 * Makes certificates for one test run. Node signs and reads X.509 but cannot write it, so the few DER structures of a
 * certificate (RFC 5280, section 4.1) are encoded here; no program needs to be installed. Keys are P-256, valid from
 * yesterday until tomorrow.
 */
export interface Identity {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

export interface Authority {
  /** The root certificate, as PEM. */
  readonly ca: string
  /** For this machine: `localhost`, 127.0.0.1 and ::1. */
  server(): Identity
  /** For another machine, by its DNS name. */
  serverNamed(name: string): Identity
  /** `name` becomes the subject's common name. */
  client(name: string): Identity
}

export function createAuthority(name = 'Test authority'): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = { name, privateKey }
  return {
    ca: certificate({ subject: name, publicKey, issuer, extensions: [BASIC_CA, SIGNS_CERTIFICATES] }),
    server: () => issue(issuer, 'localhost', [BASIC_END, SERVER_AUTH, THIS_MACHINE]),
    serverNamed: (name) => issue(issuer, name, [BASIC_END, SERVER_AUTH, dnsName(name)]),
    client: (subject) => issue(issuer, subject, [BASIC_END, CLIENT_AUTH]),
  }
}

interface Issuer {
  readonly name: string
  readonly privateKey: KeyObject
}

function issue(issuer: Issuer, subject: string, extensions: readonly Buffer[]): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { cert: certificate({ subject, publicKey, issuer, extensions }), key }
}

interface Contents {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly issuer: Issuer
  readonly extensions: readonly Buffer[]
}

function certificate({ subject, publicKey, issuer, extensions }: Contents): string {
  const now = Date.now()
  const unsigned = sequence(
    der(0xa0, integer(Buffer.of(2))), // version 3
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_SHA256,
    distinguishedName(issuer.name),
    sequence(time(now - DAY_MS), time(now + DAY_MS)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', unsigned, issuer.privateKey)
  const body = sequence(unsigned, ECDSA_SHA256, bitString(signature)).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${body.replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`
}

const DAY_MS = 86_400_000

// --- DER: a tag, a length, the contents -----------------------------------------------------------------------------

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents)
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.of(tag, ...length), body])
}

const sequence = (...items: readonly Uint8Array[]): Buffer => der(0x30, ...items)
const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes)
const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes)
const bitString = (bytes: Uint8Array, unusedBits = 0): Buffer => der(0x03, Buffer.of(unusedBits), bytes)
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const TRUE = der(0x01, Buffer.of(0xff))

/** UTCTime: `YYMMDDhhmmssZ`. */
const time = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14)}Z`))

const COMMON_NAME = objectId('550403')
const distinguishedName = (name: string): Buffer =>
  sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name, 'utf8')))))

const ECDSA_SHA256 = sequence(objectId('2a8648ce3d040302'))

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  isCritical ? sequence(objectId(id), TRUE, octets(value)) : sequence(objectId(id), octets(value))

const BASIC_CA = extension('551d13', sequence(TRUE), true)
const BASIC_END = extension('551d13', sequence(), true)
const SIGNS_CERTIFICATES = extension('551d0f', bitString(Buffer.of(0x04), 2), true)
const SERVER_AUTH = extension('551d25', sequence(objectId('2b06010505070301')))
const CLIENT_AUTH = extension('551d25', sequence(objectId('2b06010505070302')))
const IPV6_LOOPBACK = Buffer.concat([Buffer.alloc(15), Buffer.of(1)])
const dnsName = (name: string): Buffer => extension('551d11', sequence(der(0x82, Buffer.from(name))))
const THIS_MACHINE = extension(
  '551d11',
  sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.of(127, 0, 0, 1)), der(0x87, IPV6_LOOPBACK)),
)
