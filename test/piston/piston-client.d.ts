/** The package has no types of its own. */
declare module 'piston-client' {
  interface Runtime {
    readonly language: string
    readonly version: string
    readonly aliases: readonly string[]
  }
  interface Client {
    runtimes(): Promise<readonly Runtime[]>
    execute(language: string, code: string, config?: { stdin?: string; version?: string }): Promise<unknown>
  }
  export default function piston(options?: { readonly server?: string }): Client
}
