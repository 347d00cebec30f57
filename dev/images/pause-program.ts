// The program that keeps a pod's namespaces open: it waits, reaps zombies and exits on SIGTERM. Too small for a
// compiler: a dozen instructions for each architecture, written out, in the smallest file that the kernel starts.
import type { ImageSettings } from "./oci.ts";

type Architecture = ImageSettings["architecture"];

/**
 * SIGINT, SIGTERM and SIGCHLD, as the kernel writes sets of signals. Blocked signals stay pending until they are read,
 * even in process 1.
 */
const SIGNALS = "0240010000000000";

const CODE: Readonly<Record<Architecture, readonly string[]>> = {
  amd64: [
    "31ff", //               xor  edi, edi             block …
    "488d3557000000", //     lea  rsi, [signals]
    "31d2", //               xor  edx, edx
    "41ba08000000", //       mov  r10d, 8
    "b80e000000", //         mov  eax, rt_sigprocmask
    "0f05", //               syscall
    "488d3d41000000", // w:  lea  rdi, [signals]       wait for one of them
    "31f6", //               xor  esi, esi
    "31d2", //               xor  edx, edx
    "41ba08000000", //       mov  r10d, 8
    "b880000000", //         mov  eax, rt_sigtimedwait
    "0f05", //               syscall
    "83f811", //             cmp  eax, SIGCHLD
    "740d", //               je   r
    "85c0", //               test eax, eax             interrupted: wait again
    "78df", //               js   w
    "31ff", //               xor  edi, edi             told to end: status 0
    "b8e7000000", //         mov  eax, exit_group
    "0f05", //               syscall
    "4883cfff", // r:        or   rdi, -1              any child that has ended
    "31f6", //               xor  esi, esi
    "ba01000000", //         mov  edx, WNOHANG
    "4531d2", //             xor  r10d, r10d
    "b83d000000", //         mov  eax, wait4
    "0f05", //               syscall
    "85c0", //               test eax, eax             until there is none
    "7fe7", //               jg   r
    "ebbb", //               jmp  w
    "0f1f00", //             nop
    SIGNALS,
  ],
  arm64: [
    "000080d2", //           mov  x0, 0                block …
    "61030010", //           adr  x1, signals
    "020080d2", //           mov  x2, 0
    "030180d2", //           mov  x3, 8
    "e81080d2", //           mov  x8, rt_sigprocmask
    "010000d4", //           svc  0
    "c0020010", // w:        adr  x0, signals          wait for one of them
    "010080d2", //           mov  x1, 0
    "020080d2", //           mov  x2, 0
    "030180d2", //           mov  x3, 8
    "281180d2", //           mov  x8, rt_sigtimedwait
    "010000d4", //           svc  0
    "1f440071", //           cmp  w0, SIGCHLD
    "a0000054", //           b.eq r
    "00ffff37", //           tbnz w0, 31, w            interrupted: wait again
    "000080d2", //           mov  x0, 0                told to end: status 0
    "c80b80d2", //           mov  x8, exit_group
    "010000d4", //           svc  0
    "00008092", // r:        mov  x0, -1               any child that has ended
    "010080d2", //           mov  x1, 0
    "220080d2", //           mov  x2, WNOHANG
    "030080d2", //           mov  x3, 0
    "882080d2", //           mov  x8, wait4
    "010000d4", //           svc  0
    "1f000071", //           cmp  w0, 0                until there is none
    "2cffff54", //           b.gt r
    "ecffff17", //           b    w
    "1f2003d5", //           nop
    SIGNALS,
  ],
};

const MACHINES = { amd64: 62, arm64: 183 } as const satisfies Record<Architecture, number>;
const FILE_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const HEADERS_BYTES = FILE_HEADER_BYTES + PROGRAM_HEADER_BYTES;
const LOAD_ADDRESS = 0x40_0000n;

/** An ELF file with one segment that is read and executed, never written. */
export function pauseProgram(architecture: Architecture): Buffer {
  const code = Buffer.from(CODE[architecture].join(""), "hex");
  const headers = Buffer.alloc(HEADERS_BYTES);
  headers.write("7f454c46020101", 0, "hex"); // ELF, 64 bits, little endian, version 1.
  headers.writeUInt16LE(2, 16); // Executable at its load address.
  headers.writeUInt16LE(MACHINES[architecture], 18);
  headers.writeUInt32LE(1, 20);
  headers.writeBigUInt64LE(LOAD_ADDRESS + BigInt(HEADERS_BYTES), 24); // The first instruction.
  headers.writeBigUInt64LE(BigInt(FILE_HEADER_BYTES), 32); // Where the program headers are …
  headers.writeUInt16LE(FILE_HEADER_BYTES, 52);
  headers.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  headers.writeUInt16LE(1, 56); // … and how many.
  const size = BigInt(HEADERS_BYTES + code.length);
  headers.writeUInt32LE(1, FILE_HEADER_BYTES); // To be loaded …
  headers.writeUInt32LE(5, FILE_HEADER_BYTES + 4); // … to read and execute,
  headers.writeBigUInt64LE(LOAD_ADDRESS, FILE_HEADER_BYTES + 16); // there,
  headers.writeBigUInt64LE(LOAD_ADDRESS, FILE_HEADER_BYTES + 24);
  headers.writeBigUInt64LE(size, FILE_HEADER_BYTES + 32); // all of it.
  headers.writeBigUInt64LE(size, FILE_HEADER_BYTES + 40);
  headers.writeBigUInt64LE(0x1000n, FILE_HEADER_BYTES + 48);
  return Buffer.concat([headers, code]);
}
