/** The pool alone, which weighs half of undici in a bundle. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
