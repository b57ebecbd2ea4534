//! Calls of Windows.

use std::ffi::{CStr, c_void};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::windows::io::AsRawSocket as _;
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_BUFFER_OVERFLOW, FILETIME, NO_ERROR};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    FreeMibTable, GAA_FLAG_SKIP_ANYCAST, GAA_FLAG_SKIP_DNS_SERVER, GAA_FLAG_SKIP_MULTICAST,
    GetAdaptersAddresses, GetIfTable2, GetIpInterfaceEntry, IP_ADAPTER_ADDRESSES_LH, MIB_IF_ROW2,
    MIB_IF_TABLE2, MIB_IPINTERFACE_ROW,
};
use windows_sys::Win32::NetworkManagement::Ndis::IfOperStatusUp;
use windows_sys::Win32::Networking::WinSock::{
    ADDRESS_FAMILY, AF_INET, AF_INET6, AF_UNSPEC, SIO_TCP_INFO, SOCKADDR, SOCKADDR_IN,
    SOCKADDR_IN6, SOCKET, TCP_INFO_v0, WSAIoctl,
};
use windows_sys::Win32::System::Console::GetConsoleOutputCP;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Performance::QueryPerformanceFrequency;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes, GetSystemTimes};
use windows_sys::Win32::UI::Shell::IsUserAnAdmin;
use windows_sys::core::{BOOL, GUID};

use units::Span;

/// Processor time of all processors together: idle, in the kernel with idle time, and of
/// programs, in units of 100 ns [WinGetSystemTimes].
pub(crate) fn system_times() -> io::Result<[u64; 3]> {
    let [mut idle, mut kernel, mut user] = [FILETIME::default(); 3];
    // SAFETY: each points to a time.
    succeeded(unsafe { GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user) })?;
    Ok([idle, kernel, user].map(whole))
}

/// Processor time of this process: in the kernel and as a program, in units of 100 ns
/// [WinGetProcessTimes].
pub(crate) fn process_times() -> io::Result<[u64; 2]> {
    let [mut begun, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is this process's, and each pointer points to a time.
    succeeded(unsafe {
        GetProcessTimes(
            GetCurrentProcess(),
            &raw mut begun,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    })?;
    Ok([kernel, user].map(whole))
}

/// The resolution of the clocks of the program: of the performance counter, and of the wall
/// clock, which counts in units of 100 ns [WinQpc].
pub(crate) fn clock_resolution() -> io::Result<Span> {
    let mut per_second = 0;
    // SAFETY: it points to a number.
    succeeded(unsafe { QueryPerformanceFrequency(&raw mut per_second) })?;
    let per_second = u64::try_from(per_second).unwrap_or(0).max(1);
    let step = Span::from_picos(1_000_000_000_000_u64.div_ceil(per_second));
    Ok(step.max(Span::from_nanos(100)))
}

/// TCP's statistics of a connection [WinTcpInfo].
///
/// # Errors
/// The system's; Windows before 2017 and Wine have none.
pub(crate) fn tcp_info(socket: &socket2::Socket) -> io::Result<TCP_INFO_v0> {
    let socket = SOCKET::try_from(socket.as_raw_socket()).map_err(io::Error::other)?;
    let version = 0_u32;
    let mut info = TCP_INFO_v0::default();
    let sizes = [size_of_val(&version), size_of_val(&info)].map(u32::try_from);
    let [Ok(of_version), Ok(of_info)] = sizes else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut written = 0;
    // SAFETY: both pointers have the sizes that stand next to them, all fields are numbers, and the
    // call ends before it returns.
    let result = unsafe {
        WSAIoctl(
            socket,
            SIO_TCP_INFO,
            ptr::from_ref(&version).cast(),
            of_version,
            ptr::from_mut(&mut info).cast(),
            of_info,
            &raw mut written,
            ptr::null_mut(),
            None,
        )
    };
    match result {
        0 => Ok(info),
        // Errors of sockets are errors of the thread, too.
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether this process has the rights of an administrator.
pub(crate) fn is_administrator() -> bool {
    // SAFETY: it takes nothing.
    unsafe { IsUserAnAdmin() != 0 }
}

/// The character set in which the console takes what programs write; zero without a console
/// [WinGetConsoleOutputCP].
pub(crate) fn console_output_code_page() -> u32 {
    // SAFETY: it takes nothing.
    unsafe { GetConsoleOutputCP() }
}

/// Whether Wine runs this program: its `ntdll` exports its own version [WineFaq].
pub(crate) fn is_wine() -> bool {
    // SAFETY: both names end with a zero, and the library stays loaded in every process.
    unsafe {
        let library = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        GetProcAddress(library, c"wine_get_version".as_ptr().cast()).is_some()
    }
}

/// The version of Wine; `None` on Windows.
pub(crate) fn wine_version() -> Option<String> {
    type Version = unsafe extern "C" fn() -> *const std::ffi::c_char;
    // SAFETY: as above; the function takes nothing, and returns a text that stays.
    unsafe {
        let library = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        let found = GetProcAddress(library, c"wine_get_version".as_ptr().cast())?;
        let version: Version = std::mem::transmute(found);
        let text = CStr::from_ptr(version());
        Some(text.to_string_lossy().into_owned())
    }
}

/// An interface as Windows lists it [WinMibIfRow2].
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The name that users see and `netsh` takes.
    pub(crate) name: String,
    pub(crate) description: String,
    /// The identity of its adapter as text: `{...}`.
    pub(crate) identity: String,
    /// The MTU of its IP, the smaller one of both versions; that of the link where IP has none.
    pub(crate) mtu: u32,
    pub(crate) up: bool,
    /// Bits per second.
    pub(crate) speed: u64,
    /// Bytes, packets, drops and errors.
    pub(crate) received: [u64; 4],
    pub(crate) sent: [u64; 4],
    pub(crate) addresses: Vec<IpAddr>,
}

/// All interfaces; those that are layers of filters upon another one are left out.
pub(crate) fn links() -> io::Result<Vec<Link>> {
    let addresses = addresses()?;
    let mut table: *mut MIB_IF_TABLE2 = ptr::null_mut();
    // SAFETY: it writes a pointer to a table, which is freed below.
    error_of(unsafe { GetIfTable2(&raw mut table) })?;
    // SAFETY: the table has as many rows as it says, from the place of the first one on.
    let rows = unsafe {
        let first = (&raw const (*table).Table).cast::<MIB_IF_ROW2>();
        std::slice::from_raw_parts(first, (*table).NumEntries as usize)
    };
    let links = rows.iter().filter(|row| !is_filter(row));
    let links = links.map(|row| link(row, &addresses)).collect();
    // SAFETY: nothing of it is used from here on.
    unsafe { FreeMibTable(table.cast::<c_void>()) };
    Ok(links)
}

/// The second bit of the flags: FilterInterface [WinMibIfRow2].
fn is_filter(row: &MIB_IF_ROW2) -> bool {
    row.InterfaceAndOperStatusFlags._bitfield & 2 != 0
}

fn link(row: &MIB_IF_ROW2, addresses: &[(u32, IpAddr)]) -> Link {
    let own = addresses.iter();
    let own = own.filter(|(index, _)| *index == row.InterfaceIndex);
    let mtu = [AF_INET, AF_INET6].into_iter();
    let mtu = mtu.filter_map(|family| ip_mtu(row.InterfaceIndex, family));
    Link {
        name: text(&row.Alias),
        description: text(&row.Description),
        identity: identity(&row.InterfaceGuid),
        mtu: mtu.min().unwrap_or(row.Mtu),
        up: row.OperStatus == IfOperStatusUp,
        speed: row.TransmitLinkSpeed,
        received: [
            row.InOctets,
            row.InUcastPkts.saturating_add(row.InNUcastPkts),
            row.InDiscards,
            row.InErrors,
        ],
        sent: [
            row.OutOctets,
            row.OutUcastPkts.saturating_add(row.OutNUcastPkts),
            row.OutDiscards,
            row.OutErrors,
        ],
        addresses: own.map(|(_, address)| *address).collect(),
    }
}

/// The text of an identity, as the registry has it.
fn identity(guid: &GUID) -> String {
    let (first, rest) = guid.data4.split_at(2);
    let text =
        |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02X}")).collect() };
    format!(
        "{{{:08X}-{:04X}-{:04X}-{}-{}}}",
        guid.data1,
        guid.data2,
        guid.data3,
        text(first),
        text(rest)
    )
}

/// The MTU of a version of IP on an interface, which `netsh` changes [WinMibIpInterfaceRow].
fn ip_mtu(index: u32, family: ADDRESS_FAMILY) -> Option<u32> {
    // Wine 8 ends a program that calls it.
    if is_wine() {
        return None;
    }
    let mut row = MIB_IPINTERFACE_ROW {
        Family: family,
        InterfaceIndex: index,
        ..MIB_IPINTERFACE_ROW::default()
    };
    // SAFETY: it points to a row with the two fields that name one.
    let error = unsafe { GetIpInterfaceEntry(&raw mut row) };
    (error == NO_ERROR && row.NlMtu > 0).then_some(row.NlMtu)
}

/// The addresses of all interfaces by the number of each.
fn addresses() -> io::Result<Vec<(u32, IpAddr)>> {
    const FLAGS: u32 = GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER;
    /// The room that Microsoft recommends for the first call.
    const ROOM: u32 = 16 << 10;
    // Of words, because the entries begin with them.
    let mut room: Vec<u64> = Vec::new();
    let mut size = ROOM;
    let first: *mut IP_ADAPTER_ADDRESSES_LH = loop {
        room.resize(size.div_ceil(8) as usize, 0);
        let first = room.as_mut_ptr().cast();
        let unspecified = u32::from(AF_UNSPEC);
        // SAFETY: the room has `size` bytes.
        let error =
            unsafe { GetAdaptersAddresses(unspecified, FLAGS, ptr::null(), first, &raw mut size) };
        match error {
            // It has written how many it needs.
            ERROR_BUFFER_OVERFLOW => {}
            error => {
                error_of(error)?;
                break first;
            }
        }
    };
    let mut addresses = Vec::new();
    let mut entry = first;
    // SAFETY: the entries are lists in the room, each of which ends with a null pointer.
    while let Some(adapter) = unsafe { entry.as_ref() } {
        // SAFETY: both views of the union are numbers.
        let index = unsafe { adapter.Anonymous1.Anonymous.IfIndex };
        let index = [index, adapter.Ipv6IfIndex]
            .into_iter()
            .find(|&one| one > 0);
        let mut unicast = adapter.FirstUnicastAddress;
        // SAFETY: as above.
        while let Some(one) = unsafe { unicast.as_ref() } {
            // SAFETY: the address is in the room, too.
            let address = unsafe { ip(one.Address.lpSockaddr) };
            addresses.extend(index.zip(address));
            unicast = one.Next;
        }
        entry = adapter.Next;
    }
    Ok(addresses)
}

/// The IP address in an address of a socket, if it has one.
///
/// # Safety
/// It points to nothing, or to an address of the family that it states.
unsafe fn ip(address: *const SOCKADDR) -> Option<IpAddr> {
    // SAFETY: the family tells the type.
    unsafe {
        match address.as_ref()?.sa_family {
            AF_INET => {
                let four = &*address.cast::<SOCKADDR_IN>();
                let number = four.sin_addr.S_un.S_addr;
                Some(Ipv4Addr::from(number.to_ne_bytes()).into())
            }
            AF_INET6 => {
                let six = &*address.cast::<SOCKADDR_IN6>();
                Some(Ipv6Addr::from(six.sin6_addr.u.Byte).into())
            }
            _ => None,
        }
    }
}

/// A text that ends with a zero.
fn text(letters: &[u16]) -> String {
    let end = letters.iter().position(|letter| *letter == 0);
    String::from_utf16_lossy(&letters[..end.unwrap_or(letters.len())])
}

fn whole(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

fn succeeded(result: BOOL) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn error_of(code: u32) -> io::Result<()> {
    match code {
        NO_ERROR => Ok(()),
        code => Err(io::Error::from_raw_os_error(code.cast_signed())),
    }
}
