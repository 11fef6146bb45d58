//! Making events safe from a power cut, many with one write to the disk.
//!
//! A thread writes the segment to the disk whenever somebody waits for that. Events that come meanwhile wait for the
//! next round and share it, so the more callers there are the less each pays.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use fs_err::File;
use tokio::sync::watch;

pub(super) struct GroupSync {
    shared: Arc<Shared>,
    progress: watch::Receiver<Progress>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    work: Mutex<Work>,
    wake: Condvar,
}

struct Work {
    /// The file of the last event. Segments before it were made safe when they were left.
    file: Arc<File>,
    written: u64,
    wanted: u64,
    stop: bool,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    safe: u64,
    /// A failed sync is final: the system may have dropped what it could not write, and says so only once.
    failed: Option<Arc<io::Error>>,
}

impl GroupSync {
    pub(super) fn start(file: &Arc<File>) -> io::Result<Self> {
        let work = Work { file: file.clone(), written: 0, wanted: 0, stop: false };
        let shared = Arc::new(Shared { work: Mutex::new(work), wake: Condvar::new() });
        let (sender, progress) = watch::channel(Progress::default());
        let thread = std::thread::Builder::new().name("audit-sync".into()).spawn({
            let shared = shared.clone();
            move || shared.run(&sender)
        })?;
        Ok(Self { shared, progress, thread: Some(thread) })
    }

    /// Says that the event at `place` stands in `file`.
    pub(super) fn written(&self, place: u64, file: &Arc<File>) {
        let mut work = self.shared.lock();
        work.written = place;
        if !Arc::ptr_eq(&work.file, file) {
            work.file = file.clone();
        }
    }

    /// Returns when everything up to `place` is on the disk.
    pub(super) async fn settle(&self, place: u64) -> io::Result<()> {
        self.shared.want(place);
        let mut progress = self.progress.clone();
        let reached = progress.wait_for(|now| now.safe >= place || now.failed.is_some()).await;
        match reached.as_deref() {
            Ok(Progress { failed: None, .. }) => Ok(()),
            Ok(Progress { failed: Some(error), .. }) => Err(io::Error::new(error.kind(), error.to_string())),
            Err(_) => Err(io::Error::other("the thread that writes the audit log to the disk has ended")),
        }
    }
}

impl Drop for GroupSync {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Shared {
    fn run(&self, progress: &watch::Sender<Progress>) {
        let mut safe = 0;
        while let Some((file, written)) = self.wait_for_work(safe) {
            match file.sync_data() {
                Ok(()) => safe = written,
                Err(error) => {
                    progress.send_modify(|now| now.failed = Some(Arc::new(error)));
                    return;
                }
            }
            progress.send_modify(|now| now.safe = safe);
        }
    }

    fn want(&self, place: u64) {
        let mut work = self.lock();
        work.wanted = work.wanted.max(place);
        self.wake.notify_one();
    }

    /// What is to be synced next; `None` when it is time to end.
    fn wait_for_work(&self, safe: u64) -> Option<(Arc<File>, u64)> {
        let idle = |work: &mut Work| work.wanted <= safe && !work.stop;
        let work = self.wake.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        (work.wanted > safe).then(|| (work.file.clone(), work.written))
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
